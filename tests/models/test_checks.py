"""What is said before a run about models that cannot be called."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from reeval.models.checks import key_problem, key_value, url_problem
from reeval.models.kinds import KINDS
from reeval.models.options import HttpOptions
from reeval.schema.plan import PlannedModel


def planned(**changes: Any) -> PlannedModel:
    given = {"name": "anthropic/c", "provider": "anthropic", "kind": "anthropic", "model": "c", "key": "THE_KEY"}
    return PlannedModel(**given | changes)


def test_a_missing_key_names_the_variable_and_the_table() -> None:
    assert key_problem(planned(), {"THE_KEY": " "}) == (
        "model 'anthropic/c' needs a key: set the variable THE_KEY, "
        "or name another variable as key in [provider.anthropic]"
    )


def test_a_key_that_is_there_is_no_problem() -> None:
    assert key_problem(planned(), {"THE_KEY": "sk-1\n"}) is None
    assert key_value(planned(), {"THE_KEY": "sk-1\n"}) == "sk-1"


def test_no_key_is_needed_where_none_is_named() -> None:
    assert key_problem(planned(key=None), {}) is None
    assert key_value(planned(key=None), {"THE_KEY": "sk-1"}) is None


def test_googles_key_may_stand_in_either_of_its_variables() -> None:
    google = planned(key="GEMINI_API_KEY")
    assert key_value(google, {"GOOGLE_API_KEY": "g"}) == "g"
    assert key_value(google, {"GEMINI_API_KEY": "first", "GOOGLE_API_KEY": "g"}) == "first"
    assert "GEMINI_API_KEY (or GOOGLE_API_KEY)" in str(key_problem(google, {}))


@pytest.mark.parametrize("value", ["sk-\x00x", "sk-ключ", "two\nlines"])
def test_a_key_that_no_header_can_hold_is_told_without_its_value(value: str) -> None:
    text = key_problem(planned(), {"THE_KEY": value})
    assert text is not None
    assert "the value of THE_KEY holds characters that no key has" in text
    assert value not in text


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "https://api.example.com", "http://[::1]:8080/v1/", "http://10.0.0.1"]
)
def test_an_address_is_no_problem(url: str) -> None:
    assert url_problem(planned(base_url=url)) is None


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "",
        "ftp://host/v1",
        "http://",
        "http://host:99999",
        "http://[::1",
        "http://h/v1?key=1",
        "http://h \n",
    ],
)
def test_what_is_no_address_is_told(url: str) -> None:
    text = url_problem(planned(base_url=url))
    assert text is not None
    assert text.startswith(f"[provider.anthropic]: base_url is {url!r}; write an address such as 'http://")


def test_the_providers_own_address_is_no_problem() -> None:
    assert url_problem(planned()) is None


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": float("inf")}, {"connect_timeout": -1}, {"max_tokens": 0}]
)
def test_limits_that_nothing_can_keep_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^a (timeout|connect_timeout|max_tokens) of"):
        HttpOptions(**options)


def test_every_kind_is_found_by_its_name() -> None:
    assert {name: kind.key for name, kind in KINDS.items()} == {
        "anthropic": "ANTHROPIC_API_KEY",
        "fake": None,
        "google": "GEMINI_API_KEY",
        "openai": "OPENAI_API_KEY",
        "openai-chat": "OPENAI_API_KEY",
    }
    assert [name for name, kind in KINDS.items() if kind.keyless_base_url] == ["openai-chat"]


def test_planning_models_loads_no_http_client_and_no_price_list() -> None:
    code = (
        "import sys, reeval.models.kinds, reeval.models.checks\n"
        "print({'httpcore2', 'httpx2', 'genai_prices', 'jsonschema'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
