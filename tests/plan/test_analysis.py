"""Which model reads a record."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from reeval.cli.project import build_catalog
from reeval.errors import PlanError
from reeval.plan.config import Config, load_config
from reeval.plan.expand.analysis import plan_analysis

TABLES = """
[provider.reader]
kind = "fake"
"""


def config(root: Path, text: str) -> Config:
    (root / "reeval.config.toml").write_text(text)
    return load_config(root)


@pytest.mark.parametrize(
    ("text", "flag", "name", "kind"),
    [
        ('[analysis]\nmodel = "reader"\n', None, "reader", "fake"),
        ('[analysis]\nmodel = "reader"\n', "openai/gpt-5.5", "openai/gpt-5.5", "openai"),
        ("", "reader/any", "reader/any", "fake"),
    ],
)
def test_the_flag_wins_over_the_config(tmp_path: Path, text: str, flag: str | None, name: str, kind: str) -> None:
    planned = plan_analysis(flag, config(tmp_path, text + TABLES), build_catalog())
    assert (planned.name, planned.kind) == (name, kind)


@pytest.mark.parametrize(
    ("text", "flag", "said"),
    [
        ("", None, '[analysis]\n  model = "anthropic/claude-sonnet-5"'),
        ('[defaults]\njudge = "reader"\n', None, "add --model provider/model"),
        ('[analysis]\nmodel = "openai"\n', None, "reeval.config.toml:2: the model 'openai' is only a provider"),
        ("", "nobody/x", "--model: the model 'nobody/x': there is no provider 'nobody'"),
        ("", "", "--model: "),
    ],
)
def test_without_one_the_error_says_what_to_write(tmp_path: Path, text: str, flag: str | None, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan_analysis(flag, config(tmp_path, text + TABLES), build_catalog())
    assert said in str(caught.value)


def test_a_planned_model_is_frozen(tmp_path: Path) -> None:
    planned = plan_analysis("reader", config(tmp_path, TABLES), build_catalog())
    assert dataclasses.is_dataclass(planned)
    assert planned.key is None
