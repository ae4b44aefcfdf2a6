"""Which questions are planned, of which model, showing what, and how often they are asked."""

import pytest

from reeval.errors import PlanError
from reeval.schema.environment import Environment
from reeval.schema.plan import PlannedQuestion
from reeval.schema.spec import CaseSpec, CompareSpec, Question
from tests.plan.world import FILE, TWO_HARNESSES, a_group, a_plan, an_eval

PLAIN, HOUSE, OTHER = (Environment(name=name, env={"N": name}) for name in ("plain", "house", "other"))
COMPARE = CompareSpec(baseline=PLAIN, variants=(HOUSE, OTHER))
MODEL = '[analysis]\nmodel = "fake/analysis"\n'
CONFIG = TWO_HARNESSES + MODEL


def planned(root, *questions, config=CONFIG, fields=None, **selection):
    children = an_eval(questions=questions, **(fields or {}))
    (found,) = a_plan(root, children, config=config, **selection).evals
    return found


def refusal(root, *questions, **fields) -> list[str]:
    with pytest.raises(PlanError) as caught:
        planned(root, *questions, **fields)
    return str(caught.value).splitlines()


def test_a_question_is_asked_of_each_attempt(tmp_path):
    found = planned(tmp_path, Question("Why?", choices=("yes", "no")), fields={"options": {"runs": 2}})
    assert found.questions == (
        PlannedQuestion(
            text="Why?",
            choices=("yes", "no"),
            model="fake/analysis",
            state={"task": True, "output": True, "diff": True, "transcript": True},
            count=4,
        ),
    )


COUNTS = [
    ("environment", {"compare": COMPARE, "options": {"runs": 1}}, 2 * 3),
    ("environment", {"compare": COMPARE}, 2 * 3 * 4),
    ("harness", {"options": {"runs": 3}}, 3),
    ("harness", {"compare": COMPARE, "options": {"runs": 1}}, 3),
    (("environment", "harness"), {"compare": COMPARE, "options": {"runs": 2}}, (6 + 3) * 2),
    ("harness", {"options": {"runs": 2}, "cases": tuple(CaseSpec(key=k, value=k) for k in "abc")}, 6),
    (
        "environment",
        {"compare": CompareSpec(baseline=PLAIN, variants=(HOUSE,), harness=("terse",)), "options": {"runs": 1}},
        1,
    ),
]


@pytest.mark.parametrize(("across", "fields", "pairs"), COUNTS)
def test_pairs_differ_in_the_factor_and_in_nothing_else(tmp_path, across, fields, pairs):
    (question,) = planned(tmp_path, Question("Which?", across=across), fields=fields).questions
    assert question.count == pairs
    assert question.across == ((across,) if isinstance(across, str) else across)
    assert question.state == {"task": True, "diff": True}


DEFAULT = {"task": True, "output": True, "diff": True, "transcript": True}
SHOWN = [
    ({}, None, DEFAULT),
    (
        {"checks": True},
        {"diff": ["*.js"]},
        {"task": True, "output": True, "diff": ["*.js"], "transcript": True, "checks": True},
    ),
    ({"transcript": False}, {"output": False}, {"task": True, "diff": True}),
    (
        {"transcript": "tools"},
        {"transcript": "full"},
        {"task": True, "output": True, "diff": True, "transcript": "full"},
    ),
]


@pytest.mark.parametrize(("cascaded", "own", "shown"), SHOWN)
def test_what_is_shown_merges_key_by_key(tmp_path, cascaded, own, shown):
    fields = {"options": {"question": {"state": cascaded}}}
    (question,) = planned(tmp_path, Question("Why?", state=own), fields=fields).questions
    assert question.state == shown


MODELS = [
    (MODEL, {"question": "fake/q", "judge": "fake/j"}, "fake/own", "fake/own"),
    (MODEL, {"question": "fake/q", "judge": "fake/j"}, None, "fake/q"),
    (MODEL, {"judge": "fake/j"}, None, "fake/analysis"),
    ("", {"judge": "fake/j"}, None, "fake/j"),
]


@pytest.mark.parametrize(("config", "options", "own", "model"), MODELS)
def test_the_nearest_model_answers(tmp_path, config, options, own, model):
    fields = {"options": options}
    found = planned(tmp_path, Question("Why?", model=own), config=TWO_HARNESSES + config, fields=fields)
    assert found.questions[0].model == model


def test_a_profiles_judge_may_answer(tmp_path):
    config = TWO_HARNESSES + '[profile.ci.defaults]\njudge = "fake/j"\n'
    assert planned(tmp_path, Question("Why?"), config=config, profile="ci").questions[0].model == "fake/j"


@pytest.mark.parametrize(
    ("own", "artifacts"), [(None, ("page",)), (True, True), (("a", "b"), ("a", "b")), (False, False)]
)
def test_artifacts_are_the_entrys_else_the_cascades(tmp_path, own, artifacts):
    fields = {"options": {"question": {"artifacts": ["page"]}}}
    assert planned(tmp_path, Question("Why?", artifacts=own), fields=fields).questions[0].artifacts == artifacts


def test_an_evals_own_questions_replace_its_groups(tmp_path):
    group = a_group(
        "g",
        an_eval("a"),
        an_eval("b", questions=()),
        an_eval("c", questions=(Question("Own?"),)),
        questions=(Question("Group?"),),
    )
    plan = a_plan(tmp_path, group, config=CONFIG)
    assert [[question.text for question in found.questions] for found in plan.evals] == [["Group?"], [], ["Own?"]]


# --- dropped ------------------------------------------------------------------------------------------

ACROSS = Question("Which?", across="harness")
NO_COMPARE = "[profile.ci.limit]\ncompare = false\n"

LIMIT, DEFAULTS = (f"[profile.ci.{table}]\nharness = 'terse'" for table in ("limit", "defaults"))
CI = {"profile": "ci"}

DROPPED = [
    ({"harnesses": ("terse",)}, "", "harness", "is dropped: --harness leaves one harness"),
    (CI, LIMIT, "harness", "is dropped: profile ci leaves one harness"),
    (CI, DEFAULTS, "harness", "is dropped: profile ci leaves one harness"),
    (CI, NO_COMPARE, "environment", "is dropped: profile ci leaves one environment"),
    (CI, NO_COMPARE, ("harness", "environment"), "is not asked across environment: profile ci leaves one environment"),
]


@pytest.mark.parametrize(("selection", "config", "across", "note"), DROPPED)
def test_a_profile_or_flag_that_leaves_one_value_drops_the_question_with_a_note(
    tmp_path, selection, config, across, note
):
    questions = (Question("Why?"), Question("Which?", across=across))
    found = planned(tmp_path, *questions, config=CONFIG + config, fields={"compare": COMPARE}, **selection)
    assert found.notes == (f"question 2 {note}",)
    assert len(found.questions) == (2 if "not asked" in note else 1)


def test_the_transcript_across_harnesses_is_warned_of(tmp_path):
    found = planned(tmp_path, Question("Which?", across="harness", state={"transcript": True}))
    assert found.notes == ("question 1 shows the transcript across harnesses: tool names can give a side away",)


# --- refused ------------------------------------------------------------------------------------------

NO_MODEL = (
    "question 1 has no model; give it model=, set question.model or judge.model in an option, "
    "or [analysis] model in reeval.config.toml"
)

REFUSED = [
    (
        Question("Which?", across="harness"),
        {"options": {"harness": "terse"}},
        "question 1 is across='harness', but this eval has one harness; add another or drop across",
    ),
    (
        Question("Which?", across="environment"),
        {},
        "question 1 is across='environment', but this eval has one environment; add a compare or drop across",
    ),
    (
        Question("Which?", across=("harness", "environment")),
        {},
        "question 1 is across='environment', but this eval has one environment; add a compare or drop across",
    ),
    (
        Question("Which?", state={"contents": ["x"]}),
        {},
        "question 1 shows contents, which only a judge can; drop it from state",
    ),
]


@pytest.mark.parametrize(("question", "fields", "message"), REFUSED)
def test_a_question_that_cannot_be_asked_is_refused(tmp_path, question, fields, message):
    assert refusal(tmp_path, question, fields=fields) == [f"{FILE}:10: {message}"]


def test_a_question_without_any_model_is_refused(tmp_path):
    assert refusal(tmp_path, Question("Why?"), config=TWO_HARNESSES) == [f"{FILE}:10: {NO_MODEL}"]


def test_harnesses_in_different_sandboxes_make_no_pair(tmp_path):
    config = MODEL + '[harness.a]\nkind = "fake"\n[harness.b]\nkind = "command"\ncommand = "x"\n'
    assert refusal(tmp_path, Question("Which?", across="harness"), config=config) == [
        (
            f"{FILE}:10: question 1 is across='harness', but this eval has no two cells that differ "
            "in the harness alone: they also differ in the sandbox, fake and local; run all of them in one sandbox, "
            "with isolation set in its [sandbox.NAME] table ([sandbox.local] without one), or drop across"
        )
    ]


def test_harnesses_in_one_sandbox_make_pairs_as_the_refusal_advises(tmp_path):
    config = MODEL + '[harness.a]\nkind = "fake"\n[harness.b]\nkind = "command"\ncommand = "x"\n'
    one = config + '[sandbox.local]\nisolation = "require"\n'
    (asked,) = planned(tmp_path, Question("Which?", across="harness"), config=one).questions
    assert asked.count == 1
