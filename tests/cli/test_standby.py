"""Data questions without a configured harness: a model alone answers when the key of its provider is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reeval.models.standby import STANDBY_MODELS
from reeval.prices import price
from reeval.usage import Usage
from tests.cli.projects import reeval
from tests.docs.pages import DOCS
from tests.servers.models import Act, ModelServer

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
KEY = "sk-test-0123456789"
QUESTION = "eval_questions:\n  - {name: orders, question: How many orders?, sql: SELECT 3}\n"
EVAL = """
from reeval import Attempt, evaluate, includes

@evaluate("greets")
async def greets(c: Attempt) -> None:
    c.check((await c.send("Greet.")).message, includes("Done"))
"""
NO_HARNESS = (
    "error: reeval.config.toml: there is no harness to run the evals; write one, such as\n"
    '  [harness.bare]\n  kind = "model"\n  model = "PROVIDER/MODEL"\n'
    "or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, and a model of that provider answers\n"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    for name, text in {"agents/eval_questions.yml": QUESTION, "shop/orders.csv": "id\n1\n2\n3\n"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    config(tmp_path)
    return tmp_path


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer={"message": "I counted them.", "sql": "SELECT count(*) FROM orders"}) as started:
        yield started


def config(root: Path, more: str = "") -> None:
    (root / "reeval.config.toml").write_text(f'[data]\ndatabase = "duckdb:shop"\n{more}')


def notes(*arguments: str) -> list[str]:
    done = reeval("run", "--dry-run", *arguments)
    assert done.exit_code == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("note: harness")]


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google"])
def test_the_model_of_the_key_that_is_there_answers_and_is_told(
    provider: str, here: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY"}[provider]
    monkeypatch.setenv(variable, KEY)
    server.key = KEY
    config(here, f'[provider.{provider}]\nbase_url = "{server.url}"\n')
    name = f"{provider}/{STANDBY_MODELS[provider]}"
    said = f"harness model:{name} ({variable}): none is configured, so a model alone answers"
    assert notes() == [f"note: {said}"]
    done = reeval("run")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert said in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1].split() == ["accuracy", "100%", "(1/1)"]
    (request,) = server.requests
    assert "CREATE TABLE orders" in json.dumps(request.body)
    assert STANDBY_MODELS[provider] in request.path + json.dumps(request.body)
    (plan,) = reeval("run", "--dry-run", "--json").stdout.splitlines()
    assert json.loads(plan)["evals"][0]["sources"]["harness"] == variable


@pytest.mark.parametrize(
    ("keys", "first"),
    [
        (KEYS, "ANTHROPIC_API_KEY"),
        (("OPENAI_API_KEY", "GEMINI_API_KEY"), "OPENAI_API_KEY"),
        (("GOOGLE_API_KEY",), "GOOGLE_API_KEY"),
    ],
)
def test_of_several_keys_the_first_in_order_counts(
    keys: tuple[str, ...], first: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in keys:
        monkeypatch.setenv(key, KEY)
    (note,) = notes()
    assert f"({first})" in note


def test_a_key_in_a_variable_of_your_own_counts_and_the_usual_one_does_not(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(here, '[provider.anthropic]\nkey = "OUR_KEY"\n')
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert reeval("run").stderr == NO_HARNESS.replace("ANTHROPIC_API_KEY", "OUR_KEY")
    monkeypatch.setenv("OUR_KEY", KEY)
    assert "(OUR_KEY)" in notes()[0]


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_key_the_error_names_both_ways(
    value: str | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    for command in (("run",), ("run", "--dry-run"), ("check",), ("run", "--agent", "auto")):
        done = reeval(*command)
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", NO_HARNESS)


@pytest.mark.parametrize(
    ("more", "arguments"),
    [
        ('[harness.ours]\nkind = "fake"\n', ()),
        ('harness = "fake"\n', ()),
        ('[defaults]\nharness = "fake"\n', ()),
        ('[profile.ci.defaults]\nharness = "fake"\n', ("--profile", "ci")),
        ("", ("--harness", "fake")),
    ],
    ids=["table", "data", "defaults", "profile", "flag"],
)
def test_what_names_a_harness_wins_over_a_key(
    more: str, arguments: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    config(here, more)
    done = reeval("run", "--dry-run", "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    plan = json.loads(done.stdout)
    assert [harness["kind"] for harness in plan["harnesses"].values()] == ["fake"]
    assert (plan["notes"], plan["models"]) == ([], {})


def test_evals_of_code_have_no_harness_by_a_key(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "evals").mkdir()
    (here / "evals" / "greet.eval.py").write_text(EVAL)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for path in ((), ("evals",)):
        done = reeval("run", *path)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == (
            "error: reeval.config.toml: there is no harness to run the evals; write one, such as\n"
            '  [harness.terse]\n  kind = "fake"\n'
        )
    assert len(notes("agents")) == 1


def test_a_wrong_key_is_an_error_of_the_model(here: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    config(here, f'[provider.anthropic]\nbase_url = "{server.url}"\n')
    server.acts = [Act(status=401, message="invalid x-api-key")]
    done = reeval("run")
    assert done.exit_code == 3
    assert "401" in done.stdout
    assert KEY not in done.stdout


def test_the_reference_has_each_model_in_its_order() -> None:
    (rows,) = [
        block for block in (DOCS / "reference/models.md").read_text().split("\n\n") if block.startswith("| Order")
    ]
    assert [row.split("`")[-2] for row in rows.splitlines()[2:]] == [f"{p}/{m}" for p, m in STANDBY_MODELS.items()]


@pytest.mark.parametrize(("provider", "model"), STANDBY_MODELS.items())
def test_a_model_that_nobody_named_has_a_price(provider: str, model: str) -> None:
    assert price(provider, model, Usage(input=1000, output=1000))
