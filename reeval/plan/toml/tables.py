"""Which tables, keys and values may ``reeval.config.toml`` hold, and what does each turn into?

The forms are core schemas of pydantic, written as such because building the same ones from annotated classes
takes longer than a whole short run. Every form is strict and closed, and a value of several shapes is told
apart by its shape, so that a problem is said once, for the shape that was written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic_core import CoreSchema, SchemaValidator
from pydantic_core import core_schema as cs

from reeval.errors import DeclarationError
from reeval.plan.toml.durations import parse_seconds
from reeval.plan.toml.sizes import parse_bytes
from reeval.schema.environment import Egress, HostFile, McpServer, Secret, SetupStep, Skill, Workspace
from reeval.schema.spec import CompareSpec, Question

__all__ = ["config_form", "validate"]

Fields = Mapping[str, CoreSchema]


def validate(data: Mapping[str, Any], form: CoreSchema) -> dict[str, Any]:
    """Return the valid data as plain dicts that hold what was written; raise pydantic's ``ValidationError``."""
    # As JSON, since strict Python data may not hold a whole number where a float is asked for.
    valid: dict[str, Any] = SchemaValidator(form).validate_json(json.dumps(data, default=str), strict=True)
    return valid


def config_form() -> CoreSchema:
    """Return the form of the whole file."""
    options = _options()
    profile = _table({}, {"defaults": options, "limit": _limit(), "select": _select()})
    fields = {
        "evals": _list_or_one(_TEXT),
        "kind": _KIND,
        "max_concurrent": _COUNT,
        "defaults": options,
        "harness": _named(_harness()),
        "environment": _named(_environment()),
        "sandbox": _named(_table({}, {"kind": _TEXT}, open=True)),
        "provider": _named(_provider()),
        "profile": _named(profile),
        "history": _history(),
        "cache": _table({}, {"size": _then(parse_bytes, cs.any_schema())}),
        "analysis": _table({}, {"model": _TEXT}),
        "data": _data(),
    }
    return _table({}, fields)


# --- words of the forms -------------------------------------------------------------------------------

_TEXT = cs.str_schema(min_length=1)
_COUNT = cs.int_schema(ge=1)
_FLAG = cs.bool_schema()
_SHARE = cs.float_schema(ge=0, le=1, allow_inf_nan=False)
_KIND = cs.literal_schema(["pass-fail", "scored"])


def _table(required: Fields, optional: Fields, *, open: bool = False) -> CoreSchema:
    fields = {name: cs.typed_dict_field(form) for name, form in required.items()}
    fields |= {name: cs.typed_dict_field(form, required=False) for name, form in optional.items()}
    return cs.typed_dict_schema(fields, extra_behavior="allow" if open else "forbid")


def _named(form: CoreSchema) -> CoreSchema:
    return cs.dict_schema(_TEXT, form)


def _list(form: CoreSchema, *, at_least: int = 0) -> CoreSchema:
    return cs.list_schema(form, min_length=at_least)


def _tuple(form: CoreSchema, *, at_least: int = 0) -> CoreSchema:
    return _then(tuple, _list(form, at_least=at_least))


def _then(function: Callable[[Any], Any], form: CoreSchema) -> CoreSchema:
    return cs.no_info_after_validator_function(function, form)


def _by_shape(*, value: CoreSchema, table: CoreSchema | None = None, list: CoreSchema | None = None) -> CoreSchema:
    forms = {"<value>": value, "<table>": table or value, "<list>": list or value}
    return cs.tagged_union_schema(forms, _shape)


def _list_or_one(form: CoreSchema) -> CoreSchema:
    return _by_shape(value=_then(lambda one: (one,), form), list=_tuple(form, at_least=1))


def _shape(value: Any) -> str:
    return "<table>" if isinstance(value, dict) else "<list>" if isinstance(value, list) else "<value>"


def _one_of(expected: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def check(table: dict[str, Any]) -> dict[str, Any]:
        if len(table) != 1:
            raise ValueError(f"it should be a table with one of {expected}")
        return table

    return check


# --- environments -------------------------------------------------------------------------------------


def _environment() -> CoreSchema:
    strings = _tuple(_TEXT)
    skills = {
        "<local>": _table({"path": _TEXT}, {"only": strings, "exclude": strings}),
        "<git>": _table({"git": _TEXT}, {"path": _TEXT, "ref": _TEXT, "only": strings, "exclude": strings}),
        "<inline>": _table(
            {"name": _TEXT, "description": _TEXT, "content": _TEXT},
            {"files": cs.dict_schema(_TEXT, cs.str_schema())},
        ),
    }
    servers = {
        "<stdio>": _table({"command": _tuple(_TEXT, at_least=1)}, {"env": _variables()}),
        "<http>": _table({"url": _TEXT}, {"headers": _variables()}),
    }
    fields = {
        "extends": _TEXT,
        "workspace": _workspace(),
        "files": cs.dict_schema(_TEXT, _file()),
        "rules": _file(),
        "setup": _tuple(_setup()),
        "skills": _tuple(_then(_to_skill, cs.tagged_union_schema(skills, _skill_form))),
        "mcp": _named(_then(_to_server, cs.tagged_union_schema(servers, _server_form))),
        "env": _variables(),
        "egress": _egress(),
        "sandbox": _TEXT,
    }
    return _table({}, fields)


def _variables() -> CoreSchema:
    secret = _table({"from": _TEXT}, {"to": cs.literal_schema(["agent", "checks", "all"]), "optional": _FLAG})
    name = cs.str_schema(pattern=r"^[^=\x00]+$")
    return cs.dict_schema(name, _by_shape(value=cs.str_schema(), table=_then(_to_secret, secret)))


def _file() -> CoreSchema:
    host = _then(lambda table: HostFile(path=table["from"]), _table({"from": _TEXT}, {}))
    return _by_shape(value=cs.str_schema(), table=host)


def _workspace() -> CoreSchema:
    table = _table({}, {"path": _TEXT, "git": _TEXT, "ref": _TEXT, "init": _FLAG})
    directory = _then(lambda path: Workspace(path=path), _TEXT)
    return _by_shape(value=directory, table=_then(_to_workspace, table))


def _setup() -> CoreSchema:
    table = _table({"run": _TEXT}, {"timeout": _seconds(), "cache": _FLAG})
    return _by_shape(
        value=_then(lambda command: SetupStep(run=command), _TEXT),
        table=_then(lambda fields: SetupStep(**fields), table),
    )


def _egress() -> CoreSchema:
    mode = _then(lambda mode: Egress(mode=mode), cs.literal_schema(["allow-all", "deny-all"]))
    allow = _table({"allow": _tuple(_TEXT, at_least=1)}, {})
    return _by_shape(value=mode, table=_then(lambda table: Egress(mode="allow", hosts=table["allow"]), allow))


def _seconds() -> CoreSchema:
    return _then(parse_seconds, cs.any_schema())


def _to_secret(table: dict[str, Any]) -> Secret:
    return Secret(name=table.pop("from"), **table)


def _to_workspace(table: dict[str, Any]) -> Workspace:
    if not table.keys() & {"path", "git"} and not table.get("init"):
        raise ValueError("it should be a table with 'path' (a directory) or 'git' (a URL), or with init = true")
    if "git" not in table and "ref" in table:
        raise ValueError("it should be a directory without 'ref', which belongs to a git source")
    return Workspace(**table)


def _to_skill(table: dict[str, Any]) -> Skill:
    if "git" in table:
        return Skill(kind="git", url=table.pop("git"), **table)
    return Skill(kind="inline" if "content" in table else "local", **table)


def _to_server(table: dict[str, Any]) -> McpServer:
    if "url" in table:
        return McpServer(kind="http", **table)
    return McpServer(kind="stdio", **table)


def _skill_form(value: Any) -> str:
    keys = set(value) if isinstance(value, dict) else set()
    return "<git>" if "git" in keys else "<inline>" if keys & {"content", "name"} else "<local>"


def _server_form(value: Any) -> str:
    return "<http>" if isinstance(value, dict) and "url" in value else "<stdio>"


# --- options and the other tables ---------------------------------------------------------------------


def _options() -> CoreSchema:
    return _table({}, _option_fields())


def _option_fields() -> dict[str, CoreSchema]:
    some = _list(_TEXT, at_least=1)
    harness = _then(_one_of("'add', 'only'"), _table({}, {"add": some, "only": some}))
    runs = _then(_one_of("'until_decided', 'best_of'"), _table({}, {"until_decided": _COUNT, "best_of": _COUNT}))
    number = cs.float_schema(allow_inf_nan=False)
    gate = _then(_one_of("'pass_rate', 'mean_score'"), _table({}, {"pass_rate": _SHARE, "mean_score": number}))
    return {
        "harness": _by_shape(value=_TEXT, list=some, table=harness),
        "environment": _TEXT,
        "runs": _by_shape(value=_COUNT, table=runs),
        "gate": _by_shape(value=cs.literal_schema(["all", "none"]), table=gate),
        "timeout": _seconds(),
        "tags": _list(_TEXT),
        "pin": _list(cs.literal_schema(["compare", "harness", "runs"])),
        "env": _variables(),
        "egress": _egress(),
        "sandbox": _TEXT,
        "judge": _by_shape(value=_TEXT, table=_judge()),
        "question": _by_shape(value=_TEXT, table=_question()),
        "capture": cs.dict_schema(_TEXT, cs.any_schema()),
    }


def _judge() -> CoreSchema:
    fields = {"threshold": _SHARE, "votes": _COUNT, "state": _state(contents=True)}
    return _table({}, {"model": _TEXT, "max_concurrent": _COUNT, **fields})


def _question() -> CoreSchema:
    return _table(
        {},
        {
            "model": _TEXT,
            "max_concurrent": _COUNT,
            "state": _state(contents=False),
            "artifacts": _by_shape(value=_FLAG, list=_list(_TEXT)),
        },
    )


def _state(*, contents: bool) -> CoreSchema:
    strings = _list(_TEXT)
    detail = cs.literal_schema(["tools", "full"])
    transcript = cs.tagged_union_schema(
        {"<text>": detail, "<flag>": _FLAG}, lambda value: "<text>" if isinstance(value, str) else "<flag>"
    )
    fields = {
        **dict.fromkeys(("task", "output", "files", "observations"), _FLAG),
        **dict.fromkeys(("diff", "checks"), _by_shape(value=_FLAG, list=strings)),
        "transcript": transcript,
        "turns": cs.literal_schema(["last", "all"]),
    }
    return _table({}, {**fields, "contents": strings} if contents else fields)


def _limit() -> CoreSchema:
    harness = _then(list, _list_or_one(_TEXT))
    return _table({}, {"compare": _FLAG, "harness": harness, "runs": _COUNT})


def _select() -> CoreSchema:
    return _table({}, {"tags": _list_or_one(_TEXT), "kind": _KIND, "paths": _list_or_one(_TEXT)})


def _harness() -> CoreSchema:
    common = {"kind": _TEXT, "model": _TEXT, "effort": _TEXT, "max_concurrent": _COUNT, "start_timeout": _seconds()}
    return _table({}, common, open=True)


def _provider() -> CoreSchema:
    url = cs.str_schema(pattern=r"^https?://[^\s]+$")
    variable = cs.str_schema(pattern=r"^[^=\x00]+$")
    common = {"kind": _TEXT, "base_url": url, "key": variable, "max_concurrent": _COUNT}
    return _table({}, common, open=True)


def _history() -> CoreSchema:
    size = cs.str_schema(pattern=r"^\d+ ?(d|kB|KB|MB|GB|TB)$")
    return _table(
        {},
        {"artifacts": cs.literal_schema(["all", "failed", "none"]), "keep": _by_shape(value=_keep_form(size))},
    )


def _keep_form(size: CoreSchema) -> CoreSchema:
    return cs.tagged_union_schema(
        {"<text>": size, "<number>": _COUNT}, lambda value: "<text>" if isinstance(value, str) else "<number>"
    )


# --- data questions -----------------------------------------------------------------------------------


def _data() -> CoreSchema:
    accuracy = _then(_one_of("'accuracy'"), _table({}, {"accuracy": _SHARE}))
    own = {
        "database": _TEXT,
        "folder": _then(_to_folder, _TEXT),
        "statement_timeout": _seconds(),
        "max_rows": _COUNT,
        "target": cs.literal_schema(["dev", "staging", "prod"]),
        "gate": _by_shape(value=cs.literal_schema(["all", "none"]), table=accuracy),
        "questions": _tuple(_then(_to_question, _asked())),
        "compare": _then(_to_compare, _compare()),
    }
    return _table({}, {**_option_fields(), **own})


def _asked() -> CoreSchema:
    factor = cs.literal_schema(["environment", "harness"])
    fields = {
        "across": _by_shape(value=factor, list=_tuple(factor, at_least=1)),
        "choices": _list(_TEXT),
        "model": _TEXT,
        "state": _state(contents=False),
        "artifacts": _by_shape(value=_FLAG, list=_list(_TEXT)),
    }
    return _table({"text": _TEXT}, fields)


def _compare() -> CoreSchema:
    names = _tuple(_TEXT, at_least=1)
    fields = {
        "baseline": _TEXT,
        "gate": cs.literal_schema(["variants", "all", "none"]),
        "min_lift": cs.float_schema(ge=-1, le=1, allow_inf_nan=False),
        "harness": names,
    }
    return _table({"variants": names}, fields)


def _to_folder(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError("it should be a folder inside the project, such as 'agents'")
    return str(path)


def _to_question(table: dict[str, Any]) -> Question:
    try:
        return Question(table.pop("text"), **table)
    except DeclarationError as error:
        raise ValueError(f"it cannot be asked: {error}") from None


def _to_compare(table: dict[str, Any]) -> CompareSpec:
    return CompareSpec(**table)
