"""The public DSL: a sorted table of names, resolved on first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reeval.authoring import Attempt as Attempt
    from reeval.authoring import BlockingAttempt as BlockingAttempt
    from reeval.authoring import BlockingScoredAttempt as BlockingScoredAttempt
    from reeval.authoring import Check as Check
    from reeval.authoring import Match as Match
    from reeval.authoring import ScoredAttempt as ScoredAttempt
    from reeval.authoring import ScoredCheck as ScoredCheck
    from reeval.authoring import Server as Server
    from reeval.declare.words.compares import compare as compare
    from reeval.declare.words.compares import questions as questions
    from reeval.declare.words.environments import egress as egress
    from reeval.declare.words.environments import environment as environment
    from reeval.declare.words.environments import mcp as mcp
    from reeval.declare.words.environments import secret as secret
    from reeval.declare.words.environments import skill as skill
    from reeval.declare.words.evals import evaluate as evaluate
    from reeval.declare.words.evals import group as group
    from reeval.declare.words.inputs import load_json as load_json
    from reeval.declare.words.inputs import load_text as load_text
    from reeval.declare.words.judges import judge as judge
    from reeval.grade.agent_matches import called_mcp as called_mcp
    from reeval.grade.agent_matches import called_skill as called_skill
    from reeval.grade.agent_matches import called_tool as called_tool
    from reeval.grade.agent_matches import edited_file as edited_file
    from reeval.grade.agent_matches import fetched_url as fetched_url
    from reeval.grade.agent_matches import max_cost as max_cost
    from reeval.grade.agent_matches import max_tokens as max_tokens
    from reeval.grade.agent_matches import max_tool_calls as max_tool_calls
    from reeval.grade.agent_matches import ran_command as ran_command
    from reeval.grade.agent_matches import searched_for as searched_for
    from reeval.grade.agent_matches import used_no_tools as used_no_tools
    from reeval.grade.matches import all_of as all_of
    from reeval.grade.matches import any_of as any_of
    from reeval.grade.matches import at_least as at_least
    from reeval.grade.matches import at_most as at_most
    from reeval.grade.matches import command_succeeded as command_succeeded
    from reeval.grade.matches import equals as equals
    from reeval.grade.matches import excludes as excludes
    from reeval.grade.matches import greater_than as greater_than
    from reeval.grade.matches import includes as includes
    from reeval.grade.matches import is_defined as is_defined
    from reeval.grade.matches import is_true as is_true
    from reeval.grade.matches import json_matches as json_matches
    from reeval.grade.matches import less_than as less_than
    from reeval.grade.matches import not_ as not_
    from reeval.grade.matches import pattern as pattern
    from reeval.grade.matches import satisfies as satisfies
    from reeval.grade.matches import validates as validates
    from reeval.grade.measures import measures as measures
    from reeval.grade.measures import similarity as similarity
    from reeval.grade.rows.match import same_rows as same_rows
    from reeval.schema.environment import Environment as Environment
    from reeval.schema.spec import Question as Question
    from reeval.schema.transcript import CommandResult as CommandResult
    from reeval.schema.transcript import ToolCall as ToolCall
    from reeval.schema.transcript import Turn as Turn
    from reeval.version import __version__ as __version__

_HOMES = {
    "Attempt": "reeval.authoring",
    "BlockingAttempt": "reeval.authoring",
    "BlockingScoredAttempt": "reeval.authoring",
    "Check": "reeval.authoring",
    "CommandResult": "reeval.schema.transcript",
    "Environment": "reeval.schema.environment",
    "Match": "reeval.authoring",
    "Question": "reeval.schema.spec",
    "ScoredAttempt": "reeval.authoring",
    "ScoredCheck": "reeval.authoring",
    "Server": "reeval.authoring",
    "ToolCall": "reeval.schema.transcript",
    "Turn": "reeval.schema.transcript",
    "__version__": "reeval.version",
    "all_of": "reeval.grade.matches",
    "any_of": "reeval.grade.matches",
    "at_least": "reeval.grade.matches",
    "at_most": "reeval.grade.matches",
    "called_mcp": "reeval.grade.agent_matches",
    "called_skill": "reeval.grade.agent_matches",
    "called_tool": "reeval.grade.agent_matches",
    "command_succeeded": "reeval.grade.matches",
    "compare": "reeval.declare.words.compares",
    "edited_file": "reeval.grade.agent_matches",
    "egress": "reeval.declare.words.environments",
    "environment": "reeval.declare.words.environments",
    "equals": "reeval.grade.matches",
    "evaluate": "reeval.declare.words.evals",
    "excludes": "reeval.grade.matches",
    "fetched_url": "reeval.grade.agent_matches",
    "greater_than": "reeval.grade.matches",
    "group": "reeval.declare.words.evals",
    "includes": "reeval.grade.matches",
    "is_defined": "reeval.grade.matches",
    "is_true": "reeval.grade.matches",
    "json_matches": "reeval.grade.matches",
    "judge": "reeval.declare.words.judges",
    "less_than": "reeval.grade.matches",
    "load_json": "reeval.declare.words.inputs",
    "load_text": "reeval.declare.words.inputs",
    "max_cost": "reeval.grade.agent_matches",
    "max_tokens": "reeval.grade.agent_matches",
    "max_tool_calls": "reeval.grade.agent_matches",
    "mcp": "reeval.declare.words.environments",
    "measures": "reeval.grade.measures",
    "not_": "reeval.grade.matches",
    "pattern": "reeval.grade.matches",
    "questions": "reeval.declare.words.compares",
    "ran_command": "reeval.grade.agent_matches",
    "same_rows": "reeval.grade.rows.match",
    "satisfies": "reeval.grade.matches",
    "searched_for": "reeval.grade.agent_matches",
    "secret": "reeval.declare.words.environments",
    "similarity": "reeval.grade.measures",
    "skill": "reeval.declare.words.environments",
    "used_no_tools": "reeval.grade.agent_matches",
    "validates": "reeval.grade.matches",
}

__all__ = [
    "Attempt",
    "BlockingAttempt",
    "BlockingScoredAttempt",
    "Check",
    "CommandResult",
    "Environment",
    "Match",
    "Question",
    "ScoredAttempt",
    "ScoredCheck",
    "Server",
    "ToolCall",
    "Turn",
    "__version__",
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "called_mcp",
    "called_skill",
    "called_tool",
    "command_succeeded",
    "compare",
    "edited_file",
    "egress",
    "environment",
    "equals",
    "evaluate",
    "excludes",
    "fetched_url",
    "greater_than",
    "group",
    "includes",
    "is_defined",
    "is_true",
    "json_matches",
    "judge",
    "less_than",
    "load_json",
    "load_text",
    "max_cost",
    "max_tokens",
    "max_tool_calls",
    "mcp",
    "measures",
    "not_",
    "pattern",
    "questions",
    "ran_command",
    "same_rows",
    "satisfies",
    "searched_for",
    "secret",
    "similarity",
    "skill",
    "used_no_tools",
    "validates",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'reeval' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next use finds it without this function
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
