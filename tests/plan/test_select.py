"""Which evals a selection comes to, and what is said when it comes to none or to both kinds."""

from pathlib import Path

import pytest

from reeval.errors import SelectionError
from reeval.plan.build import build_plan
from reeval.plan.select import files_of, project_path
from reeval.schema.plan import Plan, Selection
from reeval.schema.spec import TodoSpec
from tests.plan.world import CATALOG, TWO_HARNESSES, a_config, a_file, a_group, an_eval

A, B, C = "evals/a.eval.py", "evals/deep/b.eval.py", "evals/scores.eval.py"

FILES = [
    a_file(
        a_group("greetings", an_eval("greets by name"), an_eval("greets all"), options={"tags": ["smoke"]}),
        an_eval("farewell", options={"tags": ["slow"]}),
        TodoSpec(name="later", line=30),
        path=A,
    ),
    a_file(an_eval("deep", mode="skip", skip_reason="flaky"), path=B),
]
SCORED = a_file(an_eval("rated", kind="scored", line=3), path=C)


def plan(root: Path, files=FILES, config: str = "", **selection) -> Plan:
    return build_plan(files, a_config(root, config + "\n" + TWO_HARNESSES), Selection(**selection), CATALOG)


def names(found: Plan) -> list[str]:
    return [planned.name for planned in found.evals]


def refusal(root: Path, files=FILES, config: str = "", **selection) -> str:
    with pytest.raises(SelectionError) as caught:
        plan(root, files, config, **selection)
    return str(caught.value)


EVERYTHING = ["greets by name", "greets all", "farewell", "later", "deep"]

SELECTIONS = [
    ({}, EVERYTHING),
    ({"paths": (A,)}, ["greets by name", "greets all", "farewell", "later"]),
    ({"paths": ("evals",)}, EVERYTHING),
    ({"paths": ("evals/",)}, EVERYTHING),
    ({"paths": (".",)}, EVERYTHING),
    ({"paths": ("evals/deep",)}, ["deep"]),
    ({"paths": ("evals/deep", f"{A}::farewell")}, ["farewell", "deep"]),
    ({"paths": (f"{A}::greetings",)}, ["greets by name", "greets all"]),
    ({"paths": (f"{A}::greetings::greets all",)}, ["greets all"]),
    ({"paths": (f"{A}::later",)}, ["later"]),
    ({"keyword": "greets and not all"}, ["greets by name"]),
    ({"keyword": "slow or deep"}, ["farewell", "deep"]),
    ({"keyword": "A.EVAL"}, ["greets by name", "greets all", "farewell", "later"]),
    ({"tags": ("smoke",)}, ["greets by name", "greets all"]),
    ({"tags": ("smoke", "slow")}, ["greets by name", "greets all", "farewell"]),
    ({"tags": ("smoke",), "keyword": "all"}, ["greets all"]),
    ({"evals": (f"{A}::farewell", f"{B}::deep")}, ["farewell", "deep"]),
    ({"kind": "pass-fail"}, EVERYTHING),
]


@pytest.mark.parametrize(("selection", "expected"), SELECTIONS, ids=[str(case[0]) for case in SELECTIONS])
def test_a_selection_keeps_what_was_asked_for(tmp_path, selection, expected):
    assert names(plan(tmp_path, **selection)) == expected


def test_a_path_is_no_prefix_of_a_longer_name(tmp_path):
    files = [a_file(an_eval("x"), an_eval("x/y"), a_group("xs", an_eval("z")), path=A)]
    assert names(plan(tmp_path, files, paths=(f"{A}::x",))) == ["x"]


def test_skipped_evals_and_evals_to_write_are_listed_and_do_not_run(tmp_path):
    found = {planned.name: planned for planned in plan(tmp_path).evals}
    assert (found["deep"].mode, found["deep"].skip_reason, found["deep"].attempts) == ("skip", "flaky", 0)
    assert (found["later"].mode, found["later"].attempts) == ("todo", 0)
    assert plan(tmp_path).attempts == 6


def test_a_skipped_group_skips_all_inside_for_the_outermost_reason(tmp_path):
    inner = a_group("in", an_eval("a"), an_eval("b", mode="skip", skip_reason="own"), mode="skip", skip_reason="inner")
    files = [a_file(a_group("out", inner, an_eval("c"), mode="skip", skip_reason="outer"), inner)]
    found = plan(tmp_path, files)
    assert [planned.skip_reason for planned in found.evals] == ["outer", "outer", "outer", "inner", "inner"]
    assert found.notes == ("nothing runs: every selected eval is skipped or still to write",)


def test_only_narrows_the_selection_and_says_what_it_left_out(tmp_path):
    files = [a_file(an_eval("a"), an_eval("b", mode="only"), a_group("g", an_eval("c"), mode="only"), an_eval("d"))]
    found = plan(tmp_path, files)
    assert names(found) == ["b", "c"]
    assert found.notes == ("only: 2 other evals are left out",)
    assert names(plan(tmp_path, files, keyword="::a")) == ["a"]


# --- nothing is selected ------------------------------------------------------------------------------

NOTHING = [
    ({"paths": ("evals/b.eval.py",)}, f"no eval is at 'evals/b.eval.py'; did you mean '{A}'?"),
    ({"paths": ("evals/dep",)}, "no eval is at 'evals/dep'; did you mean 'evals/deep'?"),
    ({"paths": (f"{A}::greets",)}, f"no eval is at '{A}::greets'; did you mean '{A}::greetings'?"),
    (
        {"paths": (f"{A}::greetings::greets",)},
        f"no eval is at '{A}::greetings::greets'; did you mean '{A}::greetings::greets all'?",
    ),
    ({"paths": (A, "nowhere")}, f"no eval is at 'nowhere'; there are 'evals', '{A}', 'evals/deep', '{B}'"),
    ({"tags": ("smok",)}, "no eval that is selected has the tag 'smok'; did you mean 'smoke'?"),
    ({"tags": ("x", "y")}, "no eval that is selected has the tag 'x' or 'y'; there are 'slow', 'smoke'"),
    (
        {"keyword": "nothing"},
        f"no eval that is selected matches -k 'nothing'; there are 5 evals in {A} (4), {B} (1)",
    ),
    (
        {"evals": ("x", "y")},
        f"none of the 2 evals that were asked for by id is declared; there are 5 evals in {A} (4), {B} (1)",
    ),
    (
        {"kind": "scored", "paths": (B,)},
        f"no scored eval is selected; there are only pass-fail: {B}::deep",
    ),
]


@pytest.mark.parametrize(("selection", "message"), NOTHING, ids=[str(case[0]) for case in NOTHING])
def test_an_empty_selection_says_what_there_is(tmp_path, selection, message):
    assert refusal(tmp_path, **selection) == message


def test_without_any_eval_the_globs_are_named(tmp_path):
    assert refusal(tmp_path, []) == (
        "no evals are declared in 'evals/**/*.eval.py' (reeval.config.toml, evals); `reeval init` writes a first one"
    )


def test_a_tag_is_asked_for_where_no_eval_has_one(tmp_path):
    assert refusal(tmp_path, [a_file(an_eval())], tags=("x",)).endswith("; no eval has a tag")


# --- one kind -----------------------------------------------------------------------------------------


def test_a_mixed_selection_is_refused_with_the_evals_of_each_kind(tmp_path):
    assert refusal(tmp_path, [*FILES, SCORED]) == (
        "a run holds evals of one kind, and this selection has both:\n"
        f"  pass-fail: {A}::greetings::greets by name, {A}::greetings::greets all, {A}::farewell, {B}::deep\n"
        f"  scored: {C}::rated\n"
        'choose with --kind pass-fail or --kind scored, a path, or kind = "pass-fail" in reeval.config.toml'
    )


def test_a_long_list_of_a_kind_is_cut(tmp_path):
    files = [a_file(*[an_eval(f"e{index}") for index in range(50)], path=A), SCORED]
    assert "e19 and 30 more\n" in refusal(tmp_path, files)


KINDS = [
    ("", {"kind": "scored"}, "scored", ["later", "rated"], 4),
    ("", {"kind": "pass-fail"}, "pass-fail", EVERYTHING, 1),
    ('kind = "scored"', {}, "scored", ["later", "rated"], 4),
    ('kind = "scored"', {"kind": "pass-fail"}, "pass-fail", EVERYTHING, 1),
    ('kind = "scored"', {"paths": (A,)}, "pass-fail", ["greets by name", "greets all", "farewell", "later"], 0),
    ("", {"paths": (C,)}, "scored", ["rated"], 0),
    ("", {"paths": (f"{A}::later",)}, "pass-fail", ["later"], 0),
    ('profile.ci.select.kind = "scored"', {"profile": "ci"}, "scored", ["later", "rated"], 4),
    ('profile.ci.select.kind = "scored"', {"profile": "ci", "kind": "pass-fail"}, "pass-fail", EVERYTHING, 1),
]


@pytest.mark.parametrize(("config", "selection", "kind", "expected", "left_out"), KINDS)
def test_one_kind_is_chosen_and_the_others_are_counted(tmp_path, config, selection, kind, expected, left_out):
    found = plan(tmp_path, [*FILES, SCORED], config, **selection)
    assert (found.kind, names(found), found.left_out) == (kind, expected, left_out)


def test_a_group_of_both_kinds_is_refused_whatever_is_selected(tmp_path):
    group = a_group("both", an_eval("a"), a_group("inner", an_eval("b", kind="scored")), line=7)
    files = [*FILES, a_file(group, path="evals/m.eval.py")]
    assert refusal(tmp_path, files, paths=(A,)) == (
        "evals/m.eval.py:7: group 'both' declares evals of both kinds (pass-fail: 'a'; scored: 'b'); "
        "a group holds one kind, so make two groups"
    )


# --- profiles -----------------------------------------------------------------------------------------

PROFILE = 'profile.ci.select = { tags = ["smoke"], paths = ["evals/a.eval.py"] }'

PROFILES = [
    ({"profile": "ci"}, ["greets by name", "greets all"]),
    ({"profile": "ci", "tags": ("slow",)}, ["farewell"]),
    ({"profile": "ci", "keyword": "all"}, ["greets all"]),
    ({"profile": "ci", "paths": (f"{A}::greetings::greets all",)}, ["greets all"]),
]


@pytest.mark.parametrize(("selection", "expected"), PROFILES)
def test_a_profile_selects_where_the_command_line_does_not(tmp_path, selection, expected):
    assert names(plan(tmp_path, config=PROFILE, **selection)) == expected


# --- paths as they are typed --------------------------------------------------------------------------


def test_a_path_is_read_from_where_it_was_typed(tmp_path):
    inner = tmp_path / "evals"
    inner.mkdir()
    assert project_path("a.eval.py::x::y z", inner, tmp_path) == f"{A}::x::y z"
    assert project_path("./evals/", tmp_path, tmp_path) == "evals"
    assert project_path("..", inner, tmp_path) == "."
    assert project_path(str(tmp_path / A), inner, tmp_path) == A
    with pytest.raises(SelectionError, match="outside the project"):
        project_path("../other", tmp_path, tmp_path)


def test_a_path_copied_from_an_id_is_found_from_a_folder_too(tmp_path):
    inner = tmp_path / "evals"
    inner.mkdir()
    (tmp_path / A).touch()
    assert project_path(f"{A}::x", inner, tmp_path) == f"{A}::x"
    assert project_path("evals", inner, tmp_path) == "evals"
    assert project_path("evals/none.eval.py", inner, tmp_path) == "evals/evals/none.eval.py"
    (inner / "evals").mkdir()
    (inner / A).touch()
    assert project_path(A, inner, tmp_path) == f"evals/{A}"


def test_only_the_files_in_which_a_path_can_be_are_needed():
    files = (A, B, C)
    assert files_of((), files) == files
    assert files_of(("evals/deep", f"{C}::x::y"), files) == (B, C)
    with pytest.raises(
        SelectionError, match=r"no eval file is at 'evals/scored'; did you mean 'evals/scores.eval.py'\?"
    ):
        files_of((A, "evals/scored::x"), files)
