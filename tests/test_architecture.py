"""The shape of the package: floors, homes of dependencies, sizes, docstrings, and what importing it loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "reeval"
MODULES = sorted(path.relative_to(ROOT) for path in PACKAGE.rglob("*.py"))

FLOORS = {
    **dict.fromkeys(("addresses", "errors", "secrets", "shelf", "usage", "prices", "version"), 0),
    "schema": 1,
    **dict.fromkeys(("authoring", "backends", "kinds", "protocols"), 2),
    **dict.fromkeys(("declare", "plan", "grade", "environments", "sandboxes", "harnesses", "models", "databases"), 3),
    **dict.fromkeys(("run", "record", "report"), 4),
    "cli": 5,
    "__main__": 6,
}
SAME_FLOOR_ALLOWED = {("errors", "errors"), ("prices", "usage"), ("protocols", "authoring"), ("protocols", "backends")}

HOMES = {
    "acp": ("reeval/harnesses/acp_client/",),
    "docker": ("reeval/sandboxes/docker",),
    "requests": ("reeval/sandboxes/docker",),
    "urllib3": ("reeval/sandboxes/docker",),
    "httpcore2": ("reeval/models/",),
    "httpx2": ("reeval/harnesses/http.py",),
    "genai_prices": ("reeval/prices.py",),
    "_duckdb": ("reeval/record/history",),
    "duckdb": ("reeval/databases/duckdb.py", "reeval/grade/rows/engines/"),
    "psycopg": ("reeval/databases/postgres",),
    "pyarrow": ("reeval/databases/", "reeval/grade/rows/engines/"),
    "jinja2": ("reeval/report/",),
    "typer": ("reeval/cli/",),
    "rich": ("reeval/report/live/terminal", "reeval/report/data/markdown", "reeval/cli/"),
    "markdown_it": ("reeval/report/data/markdown",),
    "pydantic_core": ("reeval/plan/", "reeval/declare/"),
    "pydantic": ("reeval/plan/", "reeval/declare/", "reeval/grade/matches"),
    "msgspec": (
        "reeval/usage.py",
        "reeval/schema/",
        "reeval/record/",
        "reeval/run/",
        "reeval/harnesses/",
        "reeval/models/",
        "reeval/grade/comparing/recorded",
        "reeval/grade/comparing/told",
        "reeval/grade/data/accuracy",
        "reeval/report/live/events",
    ),
    "anyio": (
        "reeval/run/",
        "reeval/sandboxes/",
        "reeval/harnesses/",
        "reeval/models/",
        "reeval/databases/",
        "reeval/cli/",
    ),
    "rapidfuzz": ("reeval/grade/",),
    "numpy": ("reeval/grade/compared/",),
    "scipy": ("reeval/grade/compared/",),
    "jsonschema": ("reeval/grade/", "reeval/models/"),
    "pathspec": ("reeval/grade/", "reeval/sandboxes/", "reeval/environments/"),
    "dotenv": ("reeval/cli/",),
    "sqlglot": ("reeval/grade/data/",),
    "yaml": ("reeval/declare/data/",),
}
ALTERNATIVES = {"harnesses", "sandboxes", "models", "databases", "cli"}


def imported(path: Path) -> set[str]:
    """Every module that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return names


def room(module: str) -> str:
    return module.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_go_down_the_floors(path: Path) -> None:
    here = path.with_suffix("").parts[1]
    if here == "__init__":
        return
    for name in imported(path):
        if not name.startswith("reeval."):
            continue
        there = room(name)
        if there == here or (here, there) in SAME_FLOOR_ALLOWED:
            continue
        assert FLOORS[there] < FLOORS[here], f"{path} imports {name}: {there} is not below {here}"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_each_dependency_stays_at_home(path: Path) -> None:
    for name in {module.split(".")[0] for module in imported(path)} & HOMES.keys():
        assert str(path).startswith(HOMES[name]), f"{path} imports {name}, whose home is {', '.join(HOMES[name])}"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_answers_one_question_in_at_most_400_lines(path: Path) -> None:
    text = (ROOT / path).read_text()
    assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
    assert len(text.splitlines()) <= 400, f"{path} is too long"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_function_does_one_step_in_at_most_50_lines(path: Path) -> None:
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1 - len((ast.get_docstring(node) or "").splitlines())
            assert length <= 50, f"{path}:{node.lineno}: {node.name} has {length} lines"


def test_only_the_root_re_exports() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        if path.parent == PACKAGE:
            continue
        body = ast.parse(path.read_text()).body
        assert len(body) == 1, f"{path.relative_to(ROOT)} holds more than a docstring"


def test_folders_stay_small() -> None:
    for folder in PACKAGE.iterdir():
        if folder.is_dir() and folder.name not in {*ALTERNATIVES, "__pycache__"}:
            modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(modules) <= 8, f"{folder.name} has {len(modules)} modules: {sorted(modules)}"


def loaded_by(code: str) -> set[str]:
    heavy = "pydantic anyio docker duckdb _duckdb genai_prices httpcore2 httpx2 rich typer jinja2"
    heavy += " pyarrow msgspec numpy scipy"
    script = f"{code}\nimport sys; print(*[m for m in {heavy.split()!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()


def test_importing_reeval_loads_nothing_heavy() -> None:
    assert loaded_by("import reeval") == set()


def test_help_loads_no_engine() -> None:
    code = (
        "import sys; sys.argv = ['reeval', '--help']\n"
        "from reeval.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass"
    )
    assert loaded_by(code) <= {"typer"}


def test_a_run_without_compares_loads_no_statistics_and_only_the_engine_of_duckdb(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "reeval.config.toml").write_text('[harness.terse]\nkind = "fake"\n')
    (tmp_path / "evals" / "a.eval.py").write_text(
        "from reeval import evaluate, equals\n@evaluate('a')\nasync def _(c): c.check(1, equals(1))\n"
    )
    code = (
        f"import os, sys; os.chdir({str(tmp_path)!r}); sys.argv = ['reeval', 'run']\n"
        "from reeval.__main__ import main\n"
        "try: main()\nexcept SystemExit as ended: assert not ended.code, ended.code"
    )
    assert {"msgspec", "_duckdb"} <= (loaded := loaded_by(code))
    assert loaded.isdisjoint({"numpy", "scipy", "pyarrow", "duckdb"})
