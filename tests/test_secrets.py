"""In which forms is a secret found, and what is left alone?"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from reeval.secrets import Masker, keys_at_hand

SECRETS = [
    "hunter22",
    'tok-"é/+with odd=chars&more\\x',
    "it's mine",
    "both ' and \"",
    "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n",
    "ends with a line\n",
    "\x1b[31mred",
    "日本の秘密",
]
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in a longer text": lambda text: f"I know {text}, you see",
    "in JSON": json.dumps,
    "in JSON that keeps letters": lambda text: json.dumps({"a": text}, ensure_ascii=False),
    "as Python shows it": repr,
    "as Python shows it in a longer text": lambda text: repr(f'it\'s "{text}"'),
    "as Python shows it in ASCII": ascii,
    "in a URL": lambda text: quote(text, safe=""),
    "in a URL's path": quote,
    "in base64": lambda text: base64.b64encode(text.encode()).decode(),
    "in base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "in base64 with a name before it": lambda text: base64.b64encode(f"user:{text}".encode()).decode(),
    "in base64 with names around it": lambda text: base64.b64encode(f"me:{text}@host".encode()).decode(),
    "in a diff": lambda text: "".join(f"+{line}\n" for line in text.splitlines()),
    "with other ends of lines": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_every_usual_form_of_a_secret_is_masked(secret: str, write: Callable[[str], str]) -> None:
    text = Masker([secret]).text(write(secret))
    assert "***" in text
    for line in secret.splitlines():
        assert write(line).strip("'\"") not in text


@pytest.mark.parametrize("value", ["", "abc", "\n", "a\nb\nc"])
def test_a_value_that_is_too_short_hides_nothing(value: str) -> None:
    text = "abc a b c \n abcdefgh"
    assert Masker([value]).text(text) == text


def test_a_short_line_of_a_long_value_hides_nothing() -> None:
    assert Masker(["if x:\n  launch_the_missiles()\n"]).text("if x: launch") == "if x: launch"


def test_the_longest_form_is_known() -> None:
    masker = Masker(["é" * 10])
    assert masker.longest == len(json.dumps("é" * 10)) - 2


def test_a_variable_that_is_named_as_a_key_is_masked_though_no_plan_names_it() -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "X_API_KEY": "short", "PATH": "/usr/bin:/bin"}
    assert keys_at_hand(environ) == ["sk-ant-0123456789"]
