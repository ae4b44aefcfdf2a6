"""The names that authors import from ``reeval``."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reeval

SOURCE = Path(reeval.__file__)


@pytest.mark.parametrize("name", reeval.__all__)
def test_every_public_name_is_there_under_its_own_name(name: str) -> None:
    value = getattr(reeval, name)
    assert getattr(value, "__name__", name) == name


def test_the_names_are_sorted_and_few() -> None:
    assert sorted(reeval.__all__) == reeval.__all__ == dir(reeval)
    assert len(reeval.__all__) <= 60


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(SOURCE.read_text())
    seen = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }
    assert sorted(seen) == reeval.__all__
    for name, module in seen.items():
        assert getattr(sys.modules[str(module)], name) is getattr(reeval, name)


def test_a_name_that_is_not_there_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="module 'reeval' has no attribute 'evaluat'"):
        reeval.evaluat  # noqa: B018 - the access is what is tested
    assert not hasattr(reeval, "same_columns")


def test_an_eval_file_without_a_runner_loads_no_engine() -> None:
    heavy = "pydantic anyio duckdb rich typer jinja2 jsonschema rapidfuzz"
    code = (
        "from reeval import *\nimport sys\n"
        "@evaluate('a', runs=2)\nasync def a(c): ...\n"
        "environment('e', files={'a': 'b'})\nincludes('x')\n"
        f"print(*[name for name in {heavy.split()!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
