"""Data questions in a plan: ids, files, the options of [data], the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reeval.errors import ConfigError, PlanError, SelectionError
from reeval.plan.build import build_plan
from reeval.plan.config import DataSettings
from reeval.schema.data.questions import DataQuestion, PlannedDatabase
from reeval.schema.plan import Plan, Selection, decode_plan, encode_plan
from reeval.schema.spec import EvalSpec, FileSpec
from tests.plan.world import CATALOG, a_config, a_file, an_eval

HARNESSES = '[harness.terse]\nkind = "fake"\n[harness.analyst]\nkind = "fake"\n'
DATA = f'{HARNESSES}[data]\ndatabase = "duckdb:shop"\n'
REVENUE = "agents/eval_questions/revenue.yml"
PEOPLE = "agents/eval_questions/people.yml"


def asked(name: str, space: str = "auto", **fields: Any) -> EvalSpec:
    data = DataQuestion(name=name, space=space, question=f"What is {name}?", sql="SELECT 1")
    return an_eval(name, data=data, **fields)


FILES = (
    FileSpec(path=REVENUE, children=(asked("by quarter"), asked("by year", options={"tags": ["slow"]}))),
    FileSpec(path=PEOPLE, children=(asked("by quarter", "people"),)),
)


def planned_database(data: DataSettings, place: str) -> PlannedDatabase:
    if data.database != "duckdb:shop":
        raise ConfigError(f"{place}: database {data.database!r}: there is no such file")
    return PlannedDatabase(kind="duckdb", url="duckdb:/shop", target=data.target)


def plan(root: Path, config: str = DATA, *files: FileSpec, **selection: Any) -> Plan:
    return build_plan(files or FILES, a_config(root, config), Selection(**selection), CATALOG, planned_database)


def test_a_data_question_is_planned_under_its_space_with_its_file_beside(tmp_path: Path) -> None:
    planned = plan(tmp_path)
    assert [(one.id, one.file, one.path, one.slug) for one in planned.evals] == [
        ("auto/by quarter", REVENUE, ("by quarter",), "auto-by-quarter"),
        ("auto/by year", REVENUE, ("by year",), "auto-by-year"),
        ("people/by quarter", PEOPLE, ("by quarter",), "people-by-quarter"),
    ]
    assert planned.kind == "pass-fail"
    assert planned.database == PlannedDatabase(kind="duckdb", url="duckdb:/shop")
    assert planned.evals[0].data == DataQuestion(name="by quarter", question="What is by quarter?", sql="SELECT 1")
    assert decode_plan(encode_plan(planned)) == planned


def test_the_options_of_data_lie_between_the_profile_and_the_question(tmp_path: Path) -> None:
    config = (
        f'{HARNESSES}[defaults]\nruns = 2\ntimeout = 5\ntags = ["all"]\n[profile.ci.defaults]\nruns = 3\ntimeout = 6\n'
        '[data]\ndatabase = "duckdb:shop"\nruns = 4\nharness = "analyst"\ntags = ["data"]\ngate = {accuracy = 0.8}\n'
    )
    planned = plan(tmp_path, config, *FILES, a_file(an_eval("other")), profile="ci")
    first, slow, _, other = planned.evals
    assert [first.runs, first.timeout, first.tags, first.gate.rule, first.gate.minimum] == [
        4,
        6.0,
        ("all", "data"),
        "accuracy",
        0.8,
    ]
    assert first.sources["runs"] == "data"
    assert [cell.harness for cell in first.cells] == ["analyst"]
    assert slow.tags == ("all", "data", "slow")
    assert [other.runs, other.tags, other.gate.rule, len(other.cells)] == [3, ("all",), "all", 2]


def test_flags_win_over_data(tmp_path: Path) -> None:
    planned = plan(tmp_path, f'{DATA}runs = 4\nharness = "analyst"\n', harnesses=("terse",), runs=1)
    assert {(one.runs, one.cells[0].harness) for one in planned.evals} == {(1, "terse")}


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        ({"paths": (REVENUE,)}, ["auto/by quarter", "auto/by year"]),
        ({"paths": ("agents",)}, ["auto/by quarter", "auto/by year", "people/by quarter"]),
        ({"paths": (f"{REVENUE}::by year",)}, ["auto/by year"]),
        ({"paths": ("people/by quarter",)}, ["people/by quarter"]),
        ({"tags": ("slow",)}, ["auto/by year"]),
        ({"keyword": "people"}, ["people/by quarter"]),
        ({"keyword": "revenue and year"}, ["auto/by year"]),
        ({"evals": ("auto/by year",)}, ["auto/by year"]),
    ],
)
def test_data_questions_are_selected_like_evals(tmp_path: Path, selection: dict[str, Any], ids: list[str]) -> None:
    assert [one.id for one in plan(tmp_path, **selection).evals] == ids


def test_a_question_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match=f"did you mean '{REVENUE}::by year'"):
        plan(tmp_path, paths=(f"{REVENUE}::by yeer",))


def test_a_plan_without_data_questions_has_no_database(tmp_path: Path) -> None:
    assert plan(tmp_path, DATA, a_file(an_eval())).database is None


def test_questions_without_a_database_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        plan(tmp_path, HARNESSES)
    assert str(caught.value) == (
        "reeval.config.toml: data questions need a database; name one, such as\n"
        '  [data]\n  database = "duckdb:data.duckdb"'
    )


def test_a_database_that_is_not_there_is_told_with_the_other_problems(tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        plan(tmp_path, DATA.replace("shop", "shpo"), harnesses=("nobody",))
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        "--harness",
        "reeval.config.toml:6",
    ]


def test_questions_of_data_are_asked_of_each_attempt(tmp_path: Path) -> None:
    config = (
        f'{DATA}runs = 2\nquestion = "fake/asked"\n'
        '[[data.questions]]\ntext = "Is the SQL readable?"\nchoices = ["yes", "no"]\n'
        '[[data.questions]]\ntext = "Which is simpler?"\nacross = "harness"\n'
    )
    planned = plan(tmp_path, config, *FILES, a_file(an_eval("other")))
    assert [(one.text, one.choices, one.across, one.count) for one in planned.evals[0].questions] == [
        ("Is the SQL readable?", ("yes", "no"), (), 4),
        ("Which is simpler?", None, ("harness",), 2),
    ]
    assert planned.evals[-1].questions == ()


def test_data_questions_can_be_compared_between_environments(tmp_path: Path) -> None:
    config = (
        f'{DATA}[data.compare]\nbaseline = "plain"\nvariants = ["hints"]\nmin_lift = 0.1\n'
        '[environment.plain]\n[environment.hints]\nrules = "Look twice."\n'
    )
    first = plan(tmp_path, config).evals[0]
    assert first.compare is not None
    assert (first.compare.control, first.compare.variants, first.compare.min_lift, first.runs) == (
        "plain",
        ("hints",),
        0.1,
        4,
    )


def test_a_question_without_a_truth_is_planned(tmp_path: Path) -> None:
    data = DataQuestion(name="a", question="What?", certified_query="gone")
    (planned,) = plan(tmp_path, DATA, FileSpec(path=REVENUE, children=(an_eval("a", data=data),))).evals
    assert planned.data == data


def test_an_eval_that_runs_alone_leaves_data_questions_out(tmp_path: Path) -> None:
    planned = plan(tmp_path, DATA, *FILES, a_file(an_eval("alone", mode="only")))
    assert [one.name for one in planned.evals] == ["alone"]


def test_certified_ground_truths_are_noted_since_an_agent_may_know_them(tmp_path: Path) -> None:
    certified = DataQuestion(name="total", question="What is total?", sql="SELECT 1", certified_query="total")
    file = FileSpec(path=REVENUE, children=(asked("by year"), an_eval("total", data=certified)))
    assert plan(tmp_path, DATA, file).notes == (
        "1 question takes its ground truth from certified queries: an agent that is given these sees the answer",
    )
    assert plan(tmp_path).notes == ()


def test_ground_truths_that_are_not_there_are_noted_with_their_questions(tmp_path: Path) -> None:
    gone = [DataQuestion(name=name, question="What?", certified_query="gone") for name in "abcde"]
    one = FileSpec(path=REVENUE, children=(an_eval("a", data=gone[0]),))
    five = FileSpec(path=REVENUE, children=tuple(an_eval(data.name, data=data) for data in gone))
    assert plan(tmp_path, DATA, one).notes == (
        "1 question is an error, since its certified query is not there: auto/a",
    )
    assert plan(tmp_path, DATA, five).notes == (
        "5 questions are errors, since their certified query is not there: auto/a, auto/b, auto/c and 2 more",
    )


def test_without_a_harness_a_data_question_is_shown_a_model_alone(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r'there is no harness .*\n.*\n  kind = "model"'):
        plan(tmp_path, '[data]\ndatabase = "duckdb:shop"\n')
