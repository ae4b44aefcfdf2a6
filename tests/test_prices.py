"""What tokens cost, from the list as it is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reeval.prices import price
from reeval.usage import Usage

SOME = Usage(input=1_000_000, output=100_000)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929"),
        ("openai", "gpt-5-mini"),
        ("google", "gemini-2.5-flash"),
        ("https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"),
    ],
)
def test_a_listed_model_has_a_price(provider: str, model: str) -> None:
    cost = price(provider, model, SOME)
    assert cost is not None
    assert 0 < cost < 100


def test_cached_tokens_are_cheaper_and_are_counted_once() -> None:
    plain = price("anthropic", "claude-sonnet-4-5", Usage(input=1000, output=0))
    cached = price("anthropic", "claude-sonnet-4-5", Usage(input=0, output=0, cache_read=1000))
    assert plain is not None
    assert cached is not None
    assert 0 < cached < plain


@pytest.mark.parametrize(
    ("provider", "model", "usage"),
    [
        ("openai", "no-such-model", SOME),
        ("no-such-provider", "gpt-5-mini", SOME),
        ("https://models.example.com/v1", "gpt-5-mini", SOME),
        ("http://localhost:11434/v1", "gpt-5-mini", SOME),
        ("http://10.1.2.3/v1", "gpt-5-mini", SOME),
        ("openai", "gpt-5-mini", Usage()),
        ("openai", "gpt-5-mini", Usage(input=5)),
        ("openai", "gpt-5-mini", Usage(input=-5, output=5)),
    ],
)
def test_what_is_unknown_stays_unknown(provider: str, model: str, usage: Usage) -> None:
    assert price(provider, model, usage) is None


def test_a_local_server_does_not_load_the_list() -> None:
    code = (
        "import sys; from reeval.prices import price; from reeval.usage import Usage\n"
        "print(price('http://127.0.0.1:8000/v1', 'm', Usage(input=1, output=1)), 'genai_prices' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "False"]
