"""Evals and groups as they are declared, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reeval.schema.spec import EvalSpec, GroupSpec, TodoSpec


def test_a_file_becomes_a_tree_in_source_order(project: Any) -> None:
    spec = project.load(
        """\
        from reeval import Attempt, BlockingAttempt, ScoredAttempt, evaluate, group

        @evaluate("first", runs=2, description="why")
        async def first(c: Attempt) -> None:
            await c.send("x")

        @group("outer", tags=["smoke"])
        def outer() -> None:
            @evaluate("inside")
            def inside(c: BlockingAttempt) -> None:
                c.send("x")

            @group("inner")
            def inner() -> None:
                @evaluate("deep", scored=True)
                async def deep(c: ScoredAttempt) -> None:
                    c.score(1)

            evaluate.todo("later")

        @evaluate("last")
        async def last(c: Attempt) -> None: ...
        """
    )
    first, outer, last = spec.children
    assert isinstance(first, EvalSpec)
    assert (first.name, first.kind, first.blocking, first.line) == ("first", "pass-fail", False, 3)
    assert (first.options, first.description, first.mode) == ({"runs": 2}, "why", "run")
    assert isinstance(outer, GroupSpec)
    assert (outer.name, outer.options, outer.line) == ("outer", {"tags": ["smoke"]}, 7)
    inside, inner, later = outer.children
    assert isinstance(inside, EvalSpec)
    assert inside.blocking
    assert isinstance(inner, GroupSpec)
    assert isinstance(inner.children[0], EvalSpec)
    assert inner.children[0].kind == "scored"
    assert later == TodoSpec(name="later", line=19)
    assert isinstance(last, EvalSpec)


def test_modes_come_from_options_and_from_the_short_forms(project: Any) -> None:
    evals = project.evals(
        """\
        from reeval import evaluate, group

        @evaluate.skip("a", "needs a parser")
        async def a(c): ...
        @evaluate("b", skip="later")
        async def b(c): ...
        @evaluate.only("c")
        async def c_(c): ...
        @evaluate("d", only=True)
        async def d(c): ...
        @evaluate.each([1], "e {}", skip="slow")
        async def e(c, case): ...
        """
    )
    assert {name: (spec.mode, spec.skip_reason) for name, spec in evals.items()} == {
        "a": ("skip", "needs a parser"),
        "b": ("skip", "later"),
        "c": ("only", None),
        "d": ("only", None),
        "e {}": ("skip", "slow"),
    }


def test_a_function_comes_back_unchanged(project: Any) -> None:
    spec = project.one(
        """\
        from reeval import compare, environment, evaluate, questions

        async def body(c):
            return None

        made = questions("Why?")(evaluate("a")(compare(variants=[environment("v")])(body)))
        assert made is body
        """
    )
    assert spec.body.__name__ == "body"
    assert spec.questions is not None
    assert spec.compare is not None


def test_wrapped_bodies_and_partials_are_bodies(project: Any) -> None:
    evals = project.evals(
        """\
        import functools
        from reeval import evaluate

        def timed(function):
            @functools.wraps(function)
            async def wrapper(*args):
                await function(*args)
            return wrapper

        @evaluate("wrapped")
        @timed
        async def wrapped(c): ...

        @evaluate("wrapped as well")
        @timed
        async def other(c): ...

        async def body(c, model): ...
        for model in ("x", "y"):
            evaluate(f"partial {model}")(functools.partial(body, model=model))
        """
    )
    assert sorted(evals) == ["partial x", "partial y", "wrapped", "wrapped as well"]
    assert not any(spec.blocking for spec in evals.values())


def test_a_factory_and_a_default_give_each_eval_its_own_value(project: Any) -> None:
    evals = project.evals(
        """\
        from reeval import evaluate

        def declare(model):
            @evaluate(f"uses {model}")
            async def body(c):
                await c.send(model)

        for model in ("x", "y"):
            declare(model)

            @evaluate(f"default {model}")
            async def body(c, model=model):
                await c.send(model)
        """
    )
    assert len(evals) == 4
    assert evals["uses x"].task != evals["uses y"].task
    assert evals["default x"].task != evals["default y"].task


def test_a_helper_may_declare_in_a_function(project: Any) -> None:
    project.write(
        "evals/shared.py",
        """\
        from reeval import evaluate

        def standard(name):
            @evaluate(f"standard {name}")
            async def body(c):
                await c.send(name)
        """,
    )
    text = "from .shared import standard\nstandard('a')\nstandard('b')\n"
    first = project.evals(text)
    assert {name: spec.line for name, spec in first.items()} == {"standard a": 2, "standard b": 3}
    assert first["standard a"].task != first["standard b"].task


LOOP = """\
from reeval import evaluate, group

for name in ("a", "b"):
    @evaluate(f"greets {name}")
    async def body(c):
        await c.send(name)
"""
LOOP_IN_GROUP = """\
from reeval import evaluate, group

@group("g")
def g():
    for name in ("a", "b"):
        @evaluate(f"greets {name}")
        async def body(c):
            await c.send(name)
"""

REFUSED = {
    "a loop at the module": (
        LOOP,
        (
            "evals/x.eval.py:4: 'greets b' has the same body as 'greets a' (line 4): declared in a loop, each would "
            "run with the loop's last value; use @evaluate.each(cases, name), whose body is (c, case)"
        ),
    ),
    "a loop in a group": (
        LOOP_IN_GROUP,
        (
            "evals/x.eval.py:6: 'greets b' has the same body as 'greets a' (line 6): declared in a loop, each would "
            "run with the loop's last value; use @evaluate.each(cases, name), whose body is (c, case)"
        ),
    ),
    "one function, two evals": (
        "from reeval import evaluate\n@evaluate('a')\n@evaluate('b')\nasync def body(c): ...\n",
        (
            "evals/x.eval.py:2: 'a' is declared with a function that already is 'b' (line 3); give each its own, or "
            "use @evaluate.each for one body with many cases"
        ),
    ),
    "an async generator": (
        "from reeval import evaluate\n@evaluate('a')\nasync def body(c):\n    yield 1\n",
        "evals/x.eval.py:2: body() is a generator, so calling it runs nothing; take out its yield",
    ),
    "a generator": (
        "from reeval import evaluate\n@evaluate('a')\ndef body(c):\n    yield 1\n",
        "evals/x.eval.py:2: body() is a generator, so calling it runs nothing; take out its yield",
    ),
    "a body without arguments": (
        "from reeval import evaluate\n@evaluate('a')\nasync def body(): ...\n",
        "evals/x.eval.py:2: body() takes (), but must take (c)",
    ),
    "a body with cases that takes none": (
        "from reeval import evaluate\n@evaluate.each([1], '{}')\nasync def body(c): ...\n",
        "evals/x.eval.py:2: body() takes (c), but must take (c, case)",
    ),
    "a method": (
        "from reeval import evaluate\nclass A:\n    @evaluate('a')\n    async def body(self, c): ...\n",
        "evals/x.eval.py:3: body() takes (self, c), but must take (c); a method cannot be an eval",
    ),
    "a bound method": (
        "from reeval import evaluate\nclass A:\n    async def body(self, c): ...\nevaluate('a')(A().body)\n",
        (
            "evals/x.eval.py:4: an eval body is a function, 'def' or 'async def', and this is the method A.body; "
            "wrap it in a function"
        ),
    ),
    "an object": (
        "from reeval import evaluate\nevaluate('a')(3)\n",
        (
            "evals/x.eval.py:2: an eval body is a function, 'def' or 'async def', and this is a value of type int; "
            "wrap it in a function"
        ),
    ),
    "an async body under a plain wrapper": (
        (
            "import functools\nfrom reeval import evaluate\n"
            "def timed(function):\n    @functools.wraps(function)\n    def wrapper(c):\n        return function(c)\n"
            "    return wrapper\n"
            "@evaluate('a')\n@timed\nasync def body(c): ...\n"
        ),
        (
            "evals/x.eval.py:8: the body body() is async, but a decorator turned it into a plain function, which would "
            "never await it; make the wrapper 'async def'"
        ),
    ),
    "an async group": (
        "from reeval import group\n@group('g')\nasync def g(): ...\n",
        "evals/x.eval.py:2: the group g() is 'async def'; a group only declares: make it 'def'",
    ),
    "a group with an argument": (
        "from reeval import group\n@group('g')\ndef g(c): ...\n",
        "evals/x.eval.py:2: g() takes (c), but must take ()",
    ),
    "a misspelt option": (
        "from reeval import evaluate\n@evaluate('a', tiemout=3)\nasync def body(c): ...\n",
        "evals/x.eval.py:2: there is no option 'tiemout'; did you mean 'timeout'?",
    ),
    "a wrong value": (
        "from reeval import group\n@group('g', runs='four')\ndef g(): ...\n",
        "evals/x.eval.py:2: the option runs is 'four'; it takes a whole number or a mapping",
    ),
    "no name": (
        "from reeval import evaluate\n@evaluate\nasync def body(c): ...\n",
        "evals/x.eval.py:2: evaluate() has no name; write @evaluate('what it shows')",
    ),
    "an empty name": (
        "from reeval import evaluate\n@evaluate(' ')\nasync def body(c): ...\n",
        "evals/x.eval.py:2: evaluate(' '): give it a name",
    ),
    "a name with the separator": (
        "from reeval import evaluate\n@evaluate('a::b')\nasync def body(c): ...\n",
        (
            "evals/x.eval.py:2: evaluate('a::b'): a name is at most 200 characters on one line, without '::' and outer "
            "spaces"
        ),
    ),
    "a skip without a reason": (
        "from reeval import evaluate\n@evaluate('a', skip=True)\nasync def body(c): ...\n",
        "evals/x.eval.py:2: skip is True; say why, such as skip='needs the new parser'",
    ),
    "skip and only": (
        "from reeval import evaluate\n@evaluate.only('a', skip='x')\nasync def body(c): ...\n",
        "evals/x.eval.py:2: skip and only cannot both be given; drop one",
    ),
    "two evals with one path": (
        (
            "from reeval import evaluate, group\n"
            "@group('g')\ndef g():\n"
            "    @evaluate('a')\n    async def one(c): ...\n"
            "    @evaluate('a')\n    async def two(c): ...\n"
        ),
        (
            "evals/x.eval.py:6: g › a is declared twice, first in line 4; the path is an eval's identity: give each "
            "its own name"
        ),
    ),
    "a group and an eval with one path": (
        "from reeval import evaluate, group\n@group('a')\ndef g(): ...\n@evaluate('a')\nasync def one(c): ...\n",
        (
            "evals/x.eval.py:4: a is declared twice, first in line 2; the path is an eval's identity: give each its "
            "own name"
        ),
    ),
    "two groups with one path": (
        "from reeval import group\n@group('a')\ndef g(): ...\n@group('a')\ndef h(): ...\n",
        (
            "evals/x.eval.py:4: a is declared twice, first in line 2; the path is an eval's identity: give each its "
            "own name"
        ),
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_an_eval_is_refused_with_its_place(project: Any, text: str, message: str) -> None:
    assert project.refusal(text) == message


def test_the_same_name_in_two_groups_is_two_paths(project: Any) -> None:
    spec = project.load(
        """\
        from reeval import evaluate, group

        @group("g")
        def g():
            @evaluate("a")
            async def one(c): ...

        @group("h")
        def h():
            @evaluate("a")
            async def one(c): ...
        """
    )
    assert [child.children[0].name for child in spec.children] == ["a", "a"]


def test_every_problem_at_the_end_of_a_file_is_reported(project: Any) -> None:
    text = project.refusal(
        """\
        from reeval import evaluate, questions

        @questions("Why?")
        def lost(c): ...

        @evaluate("a")
        async def one(c): ...
        @evaluate("a")
        async def two(c): ...
        """
    )
    assert [line.split(": ")[0] for line in text.splitlines()] == ["evals/x.eval.py:3", "evals/x.eval.py:8"]


@pytest.mark.parametrize("value", ["1", "true"])
def test_only_is_refused_in_ci(project: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    text = "from reeval import evaluate\n@evaluate.only('a')\nasync def body(c): ...\n"
    assert project.refusal(text) == (
        "evals/x.eval.py:2: 'a' has 'only', and CI is set: the rest would not run; take it out"
    )


@pytest.mark.parametrize("value", ["", "false", "0"])
def test_ci_may_be_set_to_no(project: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    text = "from reeval import evaluate\n@evaluate.only('a')\nasync def body(c): ...\n"
    assert project.one(text).mode == "only"


def test_a_module_that_declares_while_it_is_imported_is_refused(project: Any) -> None:
    project.write("evals/more.py", "from reeval import evaluate\n@evaluate('a')\nasync def body(c): ...\n")
    assert "more.py declares evals while it is imported" in project.refusal("from . import more\n")


def test_running_an_eval_file_with_python_declares_nothing_and_works(project: Any) -> None:
    path = project.write(
        "my.eval.py",
        """\
        from reeval import compare, environment, evaluate, group, questions

        @group("g", runz=1)
        def g():
            raise SystemExit("a group is not called here")

        @questions("Why?")
        @compare(variants=[environment("v")])
        @evaluate("a", tiemout=1)
        def body(): ...

        @evaluate.each([], "x")
        async def each(c): ...

        evaluate.todo("")
        print("fine", body.__name__)
        """,
    )
    done = subprocess.run([sys.executable, Path(project.root) / path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("fine body\n", "")
