"""The reference names everything there is, where it belongs, and nothing else."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import fields
from typing import Any, get_type_hints

import msgspec
import pytest
import typer.main

import reeval
from reeval import authoring
from reeval.cli.app import app
from reeval.cli.project import build_catalog
from reeval.declare.options import NodeOptions
from reeval.errors import ExitCode, Phase
from reeval.harnesses.agents.options import AgentOptions
from reeval.models.fake import FakeModelOptions
from reeval.models.kinds import KINDS
from reeval.models.options import HttpOptions
from reeval.plan.toml.tables import config_form
from reeval.record.tables import TABLES, VIEWS
from reeval.report.live import events
from reeval.run.judging.call import _KNOWN
from reeval.sandboxes.docker.options import DockerOptions
from reeval.sandboxes.local.options import LocalOptions
from reeval.schema.environment import Environment
from reeval.schema.options import JudgeOptions, Options, QuestionOptions, StateOptions
from reeval.schema.parts import EnvironmentParts
from reeval.schema.spec import Question
from reeval.schema.transcript import CommandResult, ToolCall, Turn
from reeval.usage import ClaimedUsage
from tests.docs.pages import ROOT, rows, section, tables, text_of
from tests.docs.test_generated import generate

COMMANDS = dict(generate.leaves(typer.main.get_command(app)))
DSL, OPTIONS = "reference/dsl.md", "reference/options.md"


# --- commands, tables, exit codes -----------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_in_its_section(command: str) -> None:
    text = section("reference/commands.md", f"`reeval {command}`")
    for parameter in COMMANDS[command].params:
        for option in parameter.opts if parameter.param_type_name == "option" else ():
            assert f"`{option}`" in text
        assert parameter.help in text


def test_every_table_and_column_is_documented() -> None:
    for table in (*TABLES, *VIEWS):
        assert list(rows("reference/tables.md", f"`{table.name}`")) == [column.name for column in table.columns]


def test_every_exit_code_is_documented() -> None:
    documented = {
        code: rest.split("|")[0].strip() for code, rest in rows("reference/exit-codes.md", "Exit codes").items()
    }
    assert documented == {str(code.value): f"`{code.name}`" for code in ExitCode}


def test_every_phase_has_its_row_among_the_ends_of_a_body_or_is_no_bodys() -> None:
    ends = section(DSL, "How a body ends")
    assert {phase for phase in Phase if f"`{phase}`" not in ends} == {Phase.RECORD, Phase.AGENT, Phase.TRUTH}


def test_every_event_of_json_is_documented_with_its_fields() -> None:
    said = {key: re.findall(r"`(\w+)`", rest) for key, rest in tables(text_of("reference/commands.md"))[-1].items()}
    (table,) = tables(inspect.cleandoc(events.__doc__ or "").replace("``", "`"))
    assert said.keys() == table.keys()
    for event, rest in table.items():
        assert [field for field in re.findall(r"`(\w+)`", rest) if field not in said[event]] == []


# --- options and config -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "options"),
    [("`judge`", JudgeOptions), ("`question`", QuestionOptions), ("`state`", StateOptions)],
)
def test_every_key_of_an_option_has_its_row(heading: str, options: Any) -> None:
    assert sorted(rows(OPTIONS, heading)) == sorted(get_type_hints(options))


def test_every_option_has_its_row() -> None:
    cascading, gates = tables(section(OPTIONS, "Options that cascade"))
    assert list(cascading) == list(get_type_hints(Options))
    assert {re.sub(r"[^a-z_]", "", gate.split("=")[0]) for gate in gates} == {"all", "none", "pass_rate", "mean_score"}
    assert set(rows(OPTIONS, "Options of one eval or group")) == {*get_type_hints(NodeOptions), "scored", "key"}


def test_the_guide_names_every_option_or_leaves_it_to_the_reference() -> None:
    guide = section("guide/groups-and-config.md", "One set of options, one cascade")
    assert [option for option in get_type_hints(Options) if f"`{option}`" not in guide] == ["capture"]


def keys_of(form: Any) -> set[str]:
    """The keys that a form of the config knows at its own level, whatever shape is written."""
    kind = form["type"]
    if kind == "typed-dict":
        return set(form["fields"])
    if kind in {"function-after", "list"}:
        return keys_of(form["schema"] if kind == "function-after" else form["items_schema"])
    if kind == "tagged-union":
        return set().union(*(keys_of(choice) for choice in form["choices"].values()))
    return keys_of(form["values_schema"]) if kind == "dict" else set()


def field(form: Any, *names: str) -> Any:
    """The form of a key below others."""
    for name in names:
        while form["type"] != "typed-dict":
            form = form["schema"] if form["type"] == "function-after" else form["values_schema"]
        form = form["fields"][name]["schema"]
    return form


FORM = config_form()
SANDBOX_KEYS = {"kind", *(option.name for option in fields(LocalOptions))}
DOCKER_KEYS = {option.name for option in fields(DockerOptions)} - {"pinned"}


@pytest.mark.parametrize(
    ("heading", "number", "keys"),
    [
        ("The file", 0, keys_of(FORM)),
        ("`[environment.NAME]`", 0, keys_of(field(FORM, "environment"))),
        ("`[environment.NAME]`", 1, keys_of(field(FORM, "environment", "workspace"))),
        ("`[environment.NAME]`", 2, keys_of(field(FORM, "environment", "setup"))),
        ("`[environment.NAME]`", 3, keys_of(field(FORM, "environment", "skills"))),
        ("`[environment.NAME]`", 4, keys_of(field(FORM, "environment", "mcp"))),
        ("`[environment.NAME]`", 5, keys_of(field(FORM, "environment", "env"))),
        ("`[harness.NAME]`", 0, keys_of(field(FORM, "harness"))),
        ("`[sandbox.NAME]`", 0, SANDBOX_KEYS),
        ("`[sandbox.NAME]`", 1, DOCKER_KEYS),
        ("`[provider.NAME]`", 0, keys_of(field(FORM, "provider"))),
        ("`[profile.NAME]`", 0, keys_of(field(FORM, "profile"))),
        ("`[profile.NAME]`", 1, keys_of(field(FORM, "profile", "limit"))),
        ("`[profile.NAME]`", 2, keys_of(field(FORM, "profile", "select"))),
        ("`[history]`", 0, keys_of(field(FORM, "history"))),
        ("`[cache]`", 0, keys_of(field(FORM, "cache"))),
        ("`[analysis]`", 0, keys_of(field(FORM, "analysis"))),
        ("`[data]`", 0, keys_of(field(FORM, "data")) - set(get_type_hints(Options)) | {"gate"}),
        ("`[data]`", 1, keys_of(field(FORM, "data", "questions"))),
        ("`[data]`", 2, keys_of(field(FORM, "data", "compare"))),
    ],
)
def test_every_key_of_the_config_has_its_row(heading: str, number: int, keys: set[str]) -> None:
    assert keys
    assert set(tables(section(OPTIONS, heading))[number]) == keys


def test_every_variable_that_is_read_is_documented() -> None:
    documented = rows(OPTIONS, "Variables of the host")
    source = "".join(path.read_text() for path in (ROOT / "reeval").rglob("*.py"))
    read = set(re.findall(r"""environ(?:\.get\(|\[)["']([A-Z_]+)["']""", source)) - {"PATH"}
    assert read <= set(documented)


# --- kinds ----------------------------------------------------------------------------------------------


def test_every_kind_of_harness_and_sandbox_is_documented() -> None:
    catalog = build_catalog()
    for kind in catalog.harnesses.values():
        if not issubclass(kind.options, AgentOptions):
            assert list(tables(section("reference/harnesses.md", f"`{kind.name}`"))[0]) == [
                option.name for option in fields(kind.options)
            ]
        assert f"`{kind.name}`" in rows(OPTIONS, "`[harness.NAME]`")["kind"]
        assert kind.name in rows("guide/environments.md", "Agents")
    for name in catalog.sandboxes:
        assert f"`{name}`" in rows(OPTIONS, "`[sandbox.NAME]`")["kind"]
    common = rows("reference/harnesses.md", "Harnesses")
    assert set(common) == keys_of(field(FORM, "harness"))


def test_every_kind_of_model_is_documented_with_its_options_and_its_key() -> None:
    page = "reference/models.md"
    assert set(rows(page, "Models")) >= keys_of(field(FORM, "provider"))
    assert list(tables(section(page, "HTTP"))[0]) == [option.name for option in fields(HttpOptions)]
    assert list(rows(page, "`fake`")) == [option.name for option in fields(FakeModelOptions)]
    assert all(f"`{option.name}`" in rows(page, "`fake`")["usage"] for option in fields(ClaimedUsage))
    for kind in KINDS.values():
        assert f"`{kind.name}`" in rows(OPTIONS, "`[provider.NAME]`")["kind"]
        assert (kind.key or "none") in rows("guide/judges.md", "Which model judges")[kind.name]
        assert kind.key is None or f"`{kind.key}`" in tables(section(page, "HTTP"))[1][kind.name]


# --- the DSL --------------------------------------------------------------------------------------------


def named(text: str) -> set[str]:
    """The names at the beginning of code spans: ``includes`` of ``includes(text)``."""
    return set(re.findall(r"`(?:await |async with |@)?(\w+)\b", text))


def test_every_public_name_is_documented() -> None:
    assert set(reeval.__all__) - named(text_of(DSL)) == set()


def test_the_list_of_names_at_the_top_has_every_declaration() -> None:
    top = text_of(DSL).partition("## Declarations")[0]
    homes = {name for name, home in reeval._HOMES.items() if ".declare." in home}
    assert homes <= named(top)


def signature(function: Any) -> list[str]:
    return [one.name for one in inspect.signature(function).parameters.values()]


def written(call: str) -> tuple[str, list[str]]:
    """Name and parameters of a call as the page writes it."""
    found = re.fullmatch(r"(?:await |async with |@)?([\w.]+)\((.*)\)(?: as \w+)?", call)
    assert found, call
    parameters = [re.split("[=:]", one)[0].strip(" *") for one in found[2].split(",")]
    return found[1], [one for one in parameters if one]


MATCHES = {name for name, home in reeval._HOMES.items() if ".grade." in home}


def test_every_match_is_documented_with_its_parameters() -> None:
    headings = ("Matches of values", "Matches of what the agent did", "Measurements")
    calls = [written(call) for heading in headings for call in rows(DSL, heading)]
    assert {name for name, _ in calls} == MATCHES
    for name, parameters in calls:
        assert parameters == signature(getattr(reeval, name)), name


def test_every_call_of_the_attempt_is_documented_with_its_parameters() -> None:
    documented = {**rows(DSL, "The attempt"), **tables(section(DSL, "Checks"))[0]}
    calls = dict(written(call) for call in documented if "(" in call)
    facts = {call.removeprefix("c.") for call in documented if "(" not in call}
    for kind in (authoring.ScoredAttempt, authoring.Attempt):
        members = {name: member for name, member in inspect.getmembers(kind) if not name.startswith("_")}
        properties = {name for name, member in members.items() if isinstance(member, property)}
        assert properties == facts
        for name in members.keys() - properties:
            assert ["self", *calls[f"c.{name}"]] == signature(members[name]), name


def test_every_method_of_a_check_is_documented() -> None:
    _, methods = tables(section(DSL, "Checks"))
    documented = {re.sub(r"\(.*|await |[….]", "", method) for method in methods}
    kinds = (authoring.Check, authoring.ScoredCheck, authoring.ScoreHandle)
    assert documented == {name for kind in kinds for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("`Turn`", {*Turn.__struct_fields__, "tool_calls", "diff"}),
        ("`ToolCall`", set(ToolCall.__struct_fields__)),
        ("`CommandResult`", {*CommandResult.__struct_fields__, "ok"}),
        ("`Server`", {name for name in dir(authoring.Server) if not name.startswith("_")}),
        ("`environment`", set(get_type_hints(EnvironmentParts))),
        ("`Question`", {one.name for one in fields(Question)}),
        ("`compare`", set(signature(reeval.compare))),
    ],
)
def test_every_member_has_its_row(heading: str, names: set[str]) -> None:
    assert set(rows(DSL, heading)) == names


def test_every_argument_of_a_judge_has_its_row() -> None:
    assert list(rows(DSL, "Judges")) == ["material", "on", *_KNOWN]


def test_environment_is_written_with_every_part_and_so_does_the_guide() -> None:
    parts = set(get_type_hints(EnvironmentParts))
    assert {one.name for one in fields(Environment)} == {"name", *parts}
    (call,) = re.findall(r"`(environment\([^`]*\))`", section(DSL, "`environment`"))
    assert written(call)[1] == ["name", *rows_in_order(parts)]
    assert set(rows("guide/environments.md", "What an attempt starts from")) == parts


def rows_in_order(parts: set[str]) -> list[str]:
    return [part for part in get_type_hints(EnvironmentParts) if part in parts]


@pytest.mark.parametrize("heading", ["`evaluate`", "`skill`", "`mcp`", "`egress`"])
def test_every_member_of_a_word_has_its_row_with_its_parameters(heading: str) -> None:
    word = heading.strip("`")
    owner = getattr(reeval, word)
    documented = dict(written(call) for call in tables(section(DSL, heading))[0] if "(" in call)
    plain = {call for call in tables(section(DSL, heading))[0] if "(" not in call}
    members = {name: getattr(owner, name) for name in dir(owner) if not name.startswith("_")}
    assert {call.removeprefix(f"{word}.") for call in {*documented, *plain}} - {word} == members.keys()
    for name, member in members.items():
        if callable(member):
            assert documented[f"{word}.{name}"] == signature(member), name


@pytest.mark.parametrize("name", ["group", "judge", "secret", "load_text", "load_json", "Question", "questions"])
def test_a_declaration_is_written_with_its_parameters(name: str) -> None:
    calls = re.findall(rf"`@?({name}\([^`]+\))`", section(DSL, f"`{name}`"))
    expected = signature(getattr(reeval, name))
    if name == "Question":
        expected = [one for one in expected if one != "options"] + ["model", "state", "artifacts"]
    assert written(calls[0])[1] == expected


# --- dependencies -----------------------------------------------------------------------------------------


def test_every_dependency_has_its_row() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [re.split("[<>=]", one)[0] for one in project["project"]["dependencies"]]
    assert sorted(rows("dependencies.md", "What reeval needs")) == sorted(wanted)
    dev = [re.split("[<>=]", one)[0] for one in project["dependency-groups"]["dev"]]
    assert [one for one in dev if f"`{one}`" not in section("dependencies.md", "For its development")] == []


def test_the_words_of_a_record_are_documented() -> None:
    text = text_of("reference/record.md")
    schema = msgspec.json.decode((ROOT / "docs/reference/record.schema.json").read_bytes())
    for name in schema["$defs"]:
        assert f"### `{name}`" in text, name
