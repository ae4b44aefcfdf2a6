"""What the plan of an eval holds, and what is said of evals that do not add up to one."""

import math
import time

import pytest

from reeval.errors import PlanError
from reeval.plan.build import build_plan, planned_task
from reeval.schema.environment import (
    Egress,
    Environment,
    HostFile,
    McpServer,
    Secret,
    SetupStep,
    Skill,
    Workspace,
    cached_steps,
)
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCell, PlannedHarness, PlannedSandbox, Selection, planned_attempts
from reeval.schema.spec import CaseSpec, CompareSpec
from tests.plan.world import CATALOG, FILE, TWO_HARNESSES, a_config, a_file, a_group, a_plan, an_eval


def refusal(root, *children, config=TWO_HARNESSES, **selection) -> list[str]:
    with pytest.raises(PlanError) as caught:
        a_plan(root, *children, config=config, **selection)
    return str(caught.value).splitlines()


def test_an_eval_without_options_runs_once_on_every_harness(tmp_path):
    (planned,) = a_plan(tmp_path, a_group("greetings", an_eval("greets by name", description="says hi"))).evals
    assert planned.id == f"{FILE}::greetings::greets by name"
    assert planned.slug == "greet-greetings-greets-by-name"
    assert planned.title == f"{FILE} › greetings › greets by name"
    assert planned.cells == (
        PlannedCell(key="terse/-/fake", harness="terse", environment="-", sandbox="fake"),
        PlannedCell(key="chatty/-/fake", harness="chatty", environment="-", sandbox="fake"),
    )
    assert (planned.runs, planned.attempts, planned.timeout, planned.gate.rule) == (1, 2, 600.0, "all")
    assert (planned.description, planned.blocking, planned.line, planned.kind) == ("says hi", True, 10, "pass-fail")
    assert planned.sources == dict.fromkeys(("harness", "runs", "timeout", "gate"), "default")


def test_every_option_arrives_resolved_with_its_source(tmp_path):
    config = TWO_HARNESSES + '[defaults]\njudge = "fake/m"\nenv.A = "1"\n[profile.ci.defaults]\ntimeout = "90s"\n'
    group = a_group(
        "g",
        an_eval(options={"gate": {"pass_rate": 0.5}, "env": {"B": Secret(name="H")}, "egress": "allow-all"}),
        options={"runs": 4, "tags": ["x"], "harness": "terse"},
    )
    (planned,) = a_plan(tmp_path, group, config=config, profile="ci").evals
    assert (planned.runs, planned.timeout, planned.tags) == (4, 90.0, ("x",))
    assert planned.gate == ResolvedGate(rule="pass_rate", minimum=0.5)
    assert planned.env == {"A": "1", "B": Secret(name="H")}
    assert planned.egress == Egress(mode="allow-all")
    assert planned.judge == {"model": "fake/m"}
    assert planned.sources == {
        "harness": "group g",
        "runs": "group g",
        "timeout": "profile ci",
        "gate": "eval",
        "tags": "group g",
        "egress": "eval",
        "env.A": "config",
        "env.B": "eval",
        "judge.model": "config",
    }


def test_attempts_are_cells_by_cases_by_runs(tmp_path):
    cases = tuple(CaseSpec(key=key, value=key) for key in ("a b", "a/b", "c"))
    plan = a_plan(tmp_path, an_eval(cases=cases, options={"runs": 2}))
    (planned,) = plan.evals
    first, second, third = planned.cases
    assert third == "c"
    assert first != second
    assert plan.attempts == 12
    attempts = [attempt.id for attempt in planned_attempts(plan)]
    assert len(set(attempts)) == 12
    assert attempts[4:6] == ["terse/-/fake[c]#1", "chatty/-/fake[c]#1"]


# --- harnesses ----------------------------------------------------------------------------------------


def test_a_harness_table_becomes_the_common_options_and_those_of_its_kind(tmp_path):
    config = """
[harness.terse]
kind = "fake"
model = "m"
effort = "low"
max_concurrent = 2
start_timeout = "1m"
script = [[{ reply = "hi", write = { "a.txt" = "1" } }]]
delay = 1
[harness.command]
command = ["agent", "--json"]
"""
    plan = a_plan(tmp_path, an_eval(options={"harness": ["terse", "command", "fake", "fake:gpt-x"]}), config=config)
    assert plan.harnesses == {
        "terse": PlannedHarness(
            id="terse",
            kind="fake",
            model="m",
            effort="low",
            max_concurrent=2,
            start_timeout=60.0,
            options={"script": [[{"reply": "hi", "write": {"a.txt": "1"}}]], "delay": 1},
        ),
        "command": PlannedHarness(id="command", kind="command", options={"command": ["agent", "--json"]}),
        "fake": PlannedHarness(id="fake", kind="fake"),
        "fake-gpt-x": PlannedHarness(id="fake-gpt-x", kind="fake", model="gpt-x"),
    }


HARNESS_FAULTS = [
    (
        '[harness.terse]\nkind = "fake"\nscripts = []',
        "reeval.config.toml:3: harness.terse has no key 'scripts'; did you mean 'script'?",
    ),
    (
        '[harness.terse]\nkind = "fake"\nscript = [\n  [{ reply = "a" }],\n  [{ repl = "b" }],\n]',
        "reeval.config.toml:5: harness.terse.script[2][1] has no key 'repl'; did you mean 'reply'?",
    ),
    (
        '[harness.terse]\nkind = "fake"\nmodl = "x"',
        "reeval.config.toml:3: harness.terse has no key 'modl'; did you mean 'model'?",
    ),
    (
        '[harness.terse]\nkind = "fake"\ndelay = "1"',
        "reeval.config.toml:3: harness.terse.delay is '1'; it should be a number",
    ),
    (
        '[harness.terse]\nkind = "fake"\ndelay = -1.0',
        "reeval.config.toml:1: harness.terse: expected a delay of 0 or more seconds, not -1.0",
    ),
    (
        '[harness.terse]\nkind = "fake"\nhang = "yes"',
        "reeval.config.toml:3: harness.terse.hang is 'yes'; it should be true or false",
    ),
    (
        '[harness.terse]\nkind = "command"\noutput = "json"',
        (
            "reeval.config.toml:1: harness.terse needs 'command'\n"
            "reeval.config.toml:3: harness.terse.output is 'json'; it should be 'text' or 'events'"
        ),
    ),
    (
        '[harness.terse]\nkind = "command"\ncommand = 3',
        "reeval.config.toml:3: harness.terse.command is 3; it should be a text",
    ),
    (
        '[harness.terse]\nkind = "fak"',
        "reeval.config.toml:1: harness 'terse': there is no kind 'fak'; did you mean 'fake'?",
    ),
    ("[harness.terse]", "reeval.config.toml:1: harness 'terse' needs its kind, such as kind = 'command'"),
    (
        '[harness."??"]\nkind = "fake"',
        "reeval.config.toml:1: harness '??' has no letter or digit to name it by in ids; rename it",
    ),
    (
        '[harness."a b"]\nkind = "fake"\n[harness.a-b]\nkind = "fake"',
        f"{FILE}:10: harnesses 'a b' and 'a-b' are both called 'a-b' in ids; rename one",
    ),
    (
        "",
        (
            "reeval.config.toml: there is no harness to run the evals; write one, such as\n"
            '  [harness.terse]\n  kind = "fake"'
        ),
    ),
]


@pytest.mark.parametrize(("config", "message"), HARNESS_FAULTS)
def test_a_harness_table_that_cannot_be_used_is_told(tmp_path, config, message):
    assert "\n".join(refusal(tmp_path, an_eval(), config=config)) == message


def test_a_table_that_no_eval_uses_is_checked(tmp_path):
    unused = '[harness.other]\nkind = "fake"\nscrip = []\n'
    assert refusal(tmp_path, an_eval(options={"harness": "terse"}), config=TWO_HARNESSES + unused) == [
        "reeval.config.toml:8: harness.other has no key 'scrip'; did you mean 'script'?"
    ]


TABLE = "table of reeval.config.toml"

NAMES = [
    (
        {},
        {"options": {"harness": "tersee"}},
        f"{FILE}:10: there is no harness 'tersee' (a [harness.NAME] {TABLE}); did you mean 'terse'?",
    ),
    ({}, {"options": {"harness": "htp:gpt-x"}}, f"{FILE}:10: there is no harness 'htp:gpt-x' (a [harness.NAME]"),
    (
        {"harnesses": ("tersee",)},
        {},
        f"--harness: there is no harness 'tersee' (a [harness.NAME] {TABLE}); did you mean 'terse'?",
    ),
    ({}, {"options": {"harness": []}}, f"{FILE}:10: harness names none; name one, or drop it"),
    ({}, {"options": {"harness": {"only": ["x"]}}}, f"{FILE}:10: harness only='x' is not among the inherited"),
    (
        {},
        {"options": {"harness": "command"}},
        f"{FILE}:10: harness 'command' needs 'command'; give it a [harness.NAME]",
    ),
    (
        {},
        {"options": {"environment": "x"}},
        f"{FILE}:10: there is no environment 'x' (an [environment.NAME] {TABLE}); there are none",
    ),
    (
        {},
        {"options": {"sandbox": "lokal"}},
        f"{FILE}:10: there is no sandbox 'lokal' (a [sandbox.NAME] {TABLE}); did you mean 'local'?",
    ),
]


@pytest.mark.parametrize(("selection", "fields", "message"), NAMES)
def test_an_unknown_name_is_told_where_it_was_written(tmp_path, selection, fields, message):
    (line,) = refusal(tmp_path, an_eval(**fields), **selection)
    assert line.startswith(message)


def test_a_mistake_in_the_config_is_told_once_and_there(tmp_path):
    config = TWO_HARNESSES + '[defaults]\nharness = "ters"\nsandbox = "x"\n'
    assert [line.partition(" (a")[0] for line in refusal(tmp_path, an_eval("a"), an_eval("b"), config=config)] == [
        "reeval.config.toml:7: there is no harness 'ters'",
    ]


def test_a_mistake_in_a_profile_is_told_there(tmp_path):
    config = TWO_HARNESSES + '[profile.ci]\ndefaults.sandbox = "x"\nlimit.harness = ["y", "terse"]\n'
    assert [line.partition(" (a")[0] for line in refusal(tmp_path, an_eval(), config=config, profile="ci")] == [
        "reeval.config.toml:7: there is no sandbox 'x'",
        "reeval.config.toml:8: there is no harness 'y'",
    ]


def test_an_unknown_profile_is_refused(tmp_path):
    config = TWO_HARNESSES + "[profile.nightly]\n"
    (line,) = refusal(tmp_path, an_eval(), config=config, profile="nightli")
    assert line.startswith(
        "there is no profile 'nightli' (a [profile.NAME] table of reeval.config.toml); did you mean 'nightly'?"
    )


def test_problems_of_all_evals_are_told_together(tmp_path):
    found = refusal(
        tmp_path,
        an_eval("a", line=3, options={"runs": 0}),
        a_group("g", an_eval("b", line=9, options={"timeout": "soon"}), line=7, options={"gate": {"pass_rate": 2}}),
    )
    assert found == [
        f"{FILE}:3: runs is 0; it should be a whole number of at least 1",
        f"{FILE}:7: gate is {{pass_rate = 2}}; it should be from 0 to 1",
        f"{FILE}:9: timeout is 'soon'; it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'",
    ]


VALUES = [
    ({"runs": True}, "runs is True; it should be a whole number of at least 1"),
    ({"runs": {"until_decided": 0}}, "runs is {'until_decided': 0}; it should be a whole number of at least 1"),
    ({"timeout": 0}, "timeout is 0; it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'"),
    (
        {"timeout": math.inf},
        "timeout is inf; it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'",
    ),
    (
        {"timeout": math.nan},
        "timeout is nan; it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'",
    ),
    ({"gate": {"pass_rate": math.nan}}, "gate is {pass_rate = nan}; it should be a finite number"),
    (
        {"gate": {"mean_score": 3}},
        f"gate is {{mean_score = 3}}, but the eval at {FILE}:10 is not scored; gate it by pass_rate, 'all' or 'none'",
    ),
    ({"judge": {"threshold": 1.5}}, "judge.threshold is 1.5; it should be from 0 to 1"),
    ({"capture": {"browser": "x"}}, "the option 'capture' is not in this version yet; leave it out"),
]


@pytest.mark.parametrize(("options", "message"), VALUES)
def test_a_value_out_of_range_is_refused(tmp_path, options, message):
    assert refusal(tmp_path, an_eval(options=options)) == [f"{FILE}:10: {message}"]


def test_a_pass_rate_is_refused_on_a_scored_eval_where_it_was_set(tmp_path):
    config = TWO_HARNESSES + "[defaults]\ngate = { pass_rate = 0.8 }\n"
    assert refusal(tmp_path, an_eval(kind="scored"), config=config) == [
        (
            f"reeval.config.toml:7: gate is {{pass_rate = 0.8}}, but the eval at {FILE}:10 is scored; "
            "gate it by mean_score, 'all' or 'none'"
        )
    ]
    (planned,) = a_plan(tmp_path, an_eval(kind="scored", options={"gate": {"mean_score": -2}})).evals
    assert planned.gate == ResolvedGate(rule="mean_score", minimum=-2.0)


HOUSE = CompareSpec(variants=(Environment(name="house"),))
UNTIL = [
    ({"until_decided": 20}, HOUSE, 20, "decided", "all"),
    ({"best_of": 5}, None, 5, "majority", "majority"),
    (3, None, 3, None, "all"),
]


@pytest.mark.parametrize(("runs", "compare", "most", "until", "gate"), UNTIL)
def test_runs_that_may_stop_early_plan_the_most_there_can_be(tmp_path, runs, compare, most, until, gate):
    (planned,) = a_plan(tmp_path, an_eval(options={"runs": runs}, compare=compare)).evals
    assert (planned.runs, planned.until, planned.gate.rule) == (most, until, gate)


REFUSED = [
    ("until_decided", {"runs": {"until_decided": 9}}, {}, "no compare that could be decided; add one, or write a num"),
    ("few", {"runs": {"until_decided": 3}}, {"compare": HOUSE}, "fewer than 4 runs a side decide nothing; write 4 or"),
    ("best_of", {"runs": {"best_of": 3}}, {"compare": HOUSE}, "would depend on where each side stops; use until_deci"),
    ("scored", {"runs": {"best_of": 3}}, {"kind": "scored"}, "only passes are counted to stop early; write a number"),
    ("decided", {"runs": {"until_decided": 9}}, {"kind": "scored", "compare": HOUSE}, "this eval is scored, and only"),
    ("gate", {"runs": {"best_of": 3}, "gate": "all"}, {}, "gate is 'all', but with best_of a cell passes by majority"),
    ("rate", {"runs": {"best_of": 3}, "gate": {"pass_rate": 0.5}}, {}, "but with best_of a cell passes by majority"),
]


@pytest.mark.parametrize(("options", "declared", "told"), [it[1:] for it in REFUSED], ids=[it[0] for it in REFUSED])
def test_what_cannot_stop_early_is_refused(tmp_path, options, declared, told):
    (problem,) = refusal(tmp_path, an_eval(options=options, **declared))
    assert problem.startswith(f"{FILE}:10: ")
    assert told in problem


def test_a_gate_that_only_reports_goes_with_a_majority(tmp_path):
    (planned,) = a_plan(tmp_path, an_eval(options={"runs": {"best_of": 3}, "gate": "none"})).evals
    assert (planned.until, planned.gate.rule) == ("majority", "none")


LIMITS = [("compare = false", 1, None), ("runs = 2", 2, None), ("runs = 1", 1, None), ("runs = 6", 6, "decided")]


@pytest.mark.parametrize(("limit", "most", "until"), LIMITS)
def test_a_profile_that_leaves_nothing_to_decide_leaves_plain_runs(tmp_path, limit, most, until):
    config = TWO_HARNESSES + f"[profile.ci.limit]\n{limit}\n"
    undecided = an_eval(options={"runs": {"until_decided": 20}}, compare=HOUSE)
    (planned,) = a_plan(tmp_path, undecided, config=config, profile="ci").evals
    assert (planned.runs, planned.until) == (most, until)


def test_a_limit_that_leaves_no_harness_skips_the_eval_and_says_so(tmp_path):
    config = TWO_HARNESSES + '[profile.ci.limit]\nharness = "terse"\n'
    plan = a_plan(tmp_path, an_eval("a", options={"harness": "chatty"}), an_eval("b"), config=config, profile="ci")
    first, second = plan.evals
    assert (first.mode, first.skip_reason) == ("skip", "the limit of profile ci leaves no harness")
    assert [cell.harness for cell in second.cells] == ["terse"]
    assert list(plan.harnesses) == ["terse"]


def test_flags_win_over_everything(tmp_path):
    config = TWO_HARNESSES + "[profile.ci.limit]\nruns = 1\n"
    pinned = an_eval(options={"runs": 5, "harness": "terse", "pin": ["runs", "harness"]})
    (planned,) = a_plan(tmp_path, pinned, config=config, profile="ci", runs=3, harnesses=("chatty",)).evals
    assert planned.runs == 3
    assert [cell.harness for cell in planned.cells] == ["chatty"]
    assert (planned.sources["runs"], planned.sources["harness"]) == ("--runs", "--harness")
    (planned,) = a_plan(tmp_path, pinned, config=config, profile="ci").evals
    assert planned.runs == 5
    assert planned.notes == ("runs is pinned: the limit of profile ci does not hold here",)


# --- sandboxes and environments -----------------------------------------------------------------------

BOXES = """
[harness.terse]
kind = "fake"
[harness.real]
kind = "command"
command = "agent"
[sandbox.box]
kind = "local"
"""


def test_the_sandbox_is_the_environments_else_the_cascades_else_local(tmp_path):
    boxed = Environment(name="boxed", sandbox="box")
    plan = a_plan(
        tmp_path,
        an_eval("a"),
        an_eval("b", options={"sandbox": "box"}),
        an_eval("c", options={"environment": boxed}),
        config=BOXES,
        harnesses=("real",),
    )
    assert [planned.cells[0].key for planned in plan.evals] == ["real/-/local", "real/-/box", "real/boxed/box"]
    assert plan.sandboxes == {
        "local": PlannedSandbox(id="local", kind="local", isolated=True),
        "box": PlannedSandbox(id="box", kind="local", isolated=True),
    }
    assert plan.environments == {"boxed": boxed}


def test_one_sandbox_name_that_means_two_things_gets_two_ids(tmp_path):
    plan = a_plan(tmp_path, an_eval(options={"sandbox": "box"}), config=BOXES)
    assert [cell.key for cell in plan.evals[0].cells] == ["terse/-/box", "real/-/box-isolated"]
    assert {id: sandbox.isolated for id, sandbox in plan.sandboxes.items()} == {"box": False, "box-isolated": True}


def test_what_a_kind_of_sandbox_refuses_is_told(tmp_path):
    config = TWO_HARNESSES + '[sandbox.local]\nisolation = "maybe"\n'
    assert refusal(tmp_path, an_eval(), config=config) == [
        "reeval.config.toml:6: isolation is 'maybe'; it should be 'require' or 'none'"
    ]
    config = TWO_HARNESSES + "[sandbox.box]\nmax_concurrent = 2\n"
    assert refusal(tmp_path, an_eval(options={"sandbox": "box"}), config=config) == [
        "reeval.config.toml:6: sandbox 'box' needs its kind, such as kind = 'local'"
    ]


EGRESS = [
    ({"egress": "deny-all"}, "deny-all needs isolation"),
    ({"egress": Egress(mode="allow", hosts=("x",))}, "local has no allow list; use deny-all or allow-all"),
    (
        {"egress": "allow-all", "environment": Environment(name="e", egress=Egress(mode="deny-all"))},
        "deny-all needs isolation",
    ),
]


@pytest.mark.parametrize(("options", "message"), EGRESS)
def test_a_policy_that_the_sandbox_cannot_hold_is_refused(tmp_path, options, message):
    assert refusal(tmp_path, an_eval(options={**options, "harness": "terse"})) == [f"{FILE}:10: {message}"]


def test_the_environments_own_policy_is_the_one_that_counts(tmp_path):
    environment = Environment(name="open", egress=Egress(mode="allow-all"))
    a_plan(tmp_path, an_eval(options={"egress": "deny-all", "environment": environment}))


PARTS = [
    ({"workspace": Workspace(path="app")}, "the workspace 'app' is not a directory"),
    ({"files": {"x": HostFile(path="no.txt")}}, "the file 'no.txt', for 'x', is not there"),
    ({"rules": HostFile(path="RULES.md")}, "the rules 'RULES.md' are not there"),
    ({"skills": (Skill(kind="local", path="skills/x"),)}, "the skill 'skills/x' has no SKILL.md"),
    ({"workspace": Workspace(git="up/x")}, "workspace: the git source 'up/x' is a path where nothing is; paths start"),
    ({"skills": (Skill(kind="git", url="ext::sh"),)}, "skills: the git source 'ext::sh' names a helper (ext::)"),
    (
        {"setup": (SetupStep(run="a"), SetupStep(run="b", cache=True))},
        "the setup step 'b' cannot be cached, since it comes after 'a', which runs in every attempt; put it before",
    ),
    (
        {"setup": (SetupStep(run="curl -H $KEY", cache=True),), "env": {"KEY": Secret(name="HOST_KEY")}},
        "the setup step 'curl -H $KEY' cannot be cached, since it uses KEY, a secret, and what it leaves is kept",
    ),
]


@pytest.mark.parametrize(("fields", "message"), PARTS)
def test_a_part_that_is_not_there_is_told_once(tmp_path, fields, message):
    environment = Environment(name="plain", **fields)
    evals = [an_eval(name, options={"environment": environment}) for name in ("a", "b")]
    (line,) = refusal(tmp_path, *evals)
    assert line.startswith(f"{FILE}:10: environment 'plain': {message}")


def test_a_server_that_an_agent_cannot_be_given_is_refused_with_both_names(tmp_path):
    environment = Environment(name="plain", mcp={"m": McpServer(kind="stdio", command=("x",))})
    (line,) = refusal(tmp_path, an_eval(options={"environment": environment, "harness": "terse"}))
    assert line == (
        f"{FILE}:10: harness 'terse' (fake) cannot be given MCP servers, but environment 'plain' has 'm' (stdio); "
        "run it on another harness, or leave the server out"
    )


def test_a_cached_step_has_no_secret_of_the_eval_either(tmp_path):
    environment = Environment(name="plain", setup=(SetupStep(run="curl -H $KEY", cache=True),))
    options = {"environment": environment, "env": {"KEY": Secret(name="HOST_KEY")}}
    (line,) = refusal(tmp_path, an_eval(options=options))
    assert "environment 'plain': the setup step 'curl -H $KEY' cannot be cached, since it uses KEY, a secret" in line


def test_steps_that_may_be_cached_come_first(tmp_path):
    setup = (SetupStep(run="a", cache=True), SetupStep(run="b", cache=True), SetupStep(run="c"))
    a_plan(tmp_path, an_eval(options={"environment": Environment(name="plain", setup=setup)}))
    assert [step.run for step in cached_steps(setup)] == ["a", "b"]


def test_parts_that_are_there_are_fine(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "skills" / "x").mkdir(parents=True)
    (tmp_path / "skills" / "x" / "SKILL.md").touch()
    (tmp_path / "file.txt").touch()
    environment = Environment(
        name="plain",
        workspace=Workspace(path="app"),
        files={"x": HostFile(path="file.txt"), "y": "text"},
        rules=HostFile(path="file.txt"),
        skills=(Skill(kind="local", path="skills/x"), Skill(kind="inline", name="n", content="c")),
    )
    assert list(a_plan(tmp_path, an_eval(options={"environment": environment})).environments) == ["plain"]


def test_an_environment_of_the_config_is_told_at_its_table(tmp_path):
    config = TWO_HARNESSES + '[defaults]\nenvironment = "plain"\n[environment.plain]\nworkspace = "app"\n'
    (line,) = refusal(tmp_path, an_eval(), config=config)
    assert line.startswith("reeval.config.toml:8: environment 'plain': the workspace 'app' is not a directory")


def test_one_name_has_one_content(tmp_path):
    def evals(*environments: Environment):
        return [an_eval(f"e{n}", line=n, options={"environment": one}) for n, one in enumerate(environments, 1)]

    same = [Environment(name="plain", env={"A": "1"}), Environment(name="plain", env={"A": "1"})]
    assert list(a_plan(tmp_path, *evals(*same)).environments) == ["plain"]
    assert refusal(tmp_path, *evals(same[0], Environment(name="plain"))) == [
        f"{FILE}:2: two environments with different contents are called 'plain'; rename one of them"
    ]
    assert refusal(tmp_path, *evals(Environment(name="a b"), Environment(name="a-b"))) == [
        f"{FILE}:2: environments 'a b' and 'a-b' are both called 'a-b' in ids; rename one"
    ]
    assert refusal(tmp_path, *evals(Environment(name="-"))) == [
        f"{FILE}:1: environment '-' has no letter or digit to name it by in ids; rename it"
    ]


# --- the rest -----------------------------------------------------------------------------------------


def test_a_path_that_is_declared_twice_is_refused(tmp_path):
    assert refusal(tmp_path, an_eval("a", line=1), an_eval("a", line=8)) == [
        f"{FILE}:8: the path of '{FILE}::a' is declared twice; rename one of them"
    ]


def test_a_skipped_eval_is_not_checked(tmp_path):
    plan = a_plan(tmp_path, an_eval("a", mode="skip", options={"harness": "nowhere"}), an_eval("b"))
    assert [planned.mode for planned in plan.evals] == ["skip", "run"]


def test_the_task_changes_with_how_it_is_graded_and_with_nothing_else(tmp_path):
    def task(**options: object) -> str:
        (planned,) = a_plan(tmp_path, an_eval(options=options)).evals
        return planned.task

    graded = {
        task(),
        task(gate="none"),
        task(gate={"pass_rate": 0.5}),
        task(judge={"threshold": 0.1}),
        task(judge="fake/m"),
    }
    assert len(graded) == 5
    assert {task(runs=3), task(timeout=5), task(tags=["x"]), task(judge={"max_concurrent": 2})} == {task()}
    assert planned_task("task", ResolvedGate(rule="all"), {}) == task()
    assert planned_task("other", ResolvedGate(rule="all"), {}) != task()


def test_a_thousand_attempts_are_planned_without_delay(tmp_path):
    config = a_config(tmp_path)
    many = [a_file(*[an_eval(f"e{index}", options={"harness": "terse"}) for index in range(1000)])]
    began = time.process_time()
    assert build_plan(many, config, Selection(), CATALOG).attempts == 1000
    assert time.process_time() - began < 5
