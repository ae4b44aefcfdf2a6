"""What each provider is sent, and what is read of its answer."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from reeval.backends import Picture
from reeval.models.forms import closed, count, without
from reeval.models.google import KIND as GOOGLE
from reeval.usage import Usage
from tests.models.bench import JUDGE, KEY, Bench, ask
from tests.servers.models import ANSWER, Act, ModelServer

pytestmark = pytest.mark.anyio

PICTURE = Picture(name="page.png", media_type="image/png", data=b"\x89PNG")
DATA = base64.b64encode(PICTURE.data).decode()


async def sent(server: ModelServer, root: Path, kind: str, *pictures: Picture) -> dict:
    await Bench(kind=kind, server=server, root=root, options={"max_tokens": 50}).answer(ask(JUDGE, *pictures))
    return server.requests[-1].body


async def test_anthropic_is_asked_by_a_forced_tool(server: ModelServer, tmp_path: Path) -> None:
    assert await sent(server, tmp_path, "anthropic", PICTURE) == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 50,
        "system": "Does it greet?",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "<diff>+Hello</diff>"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
                ],
            }
        ],
        "temperature": 0.0,
        "tools": [{"name": "answer", "description": "Gives the answer.", "input_schema": JUDGE}],
        "tool_choice": {"type": "tool", "name": "answer"},
    }
    headers = server.requests[-1].headers
    assert server.requests[-1].path == "/v1/messages"
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")


async def test_openai_is_asked_by_a_strict_schema(server: ModelServer, tmp_path: Path) -> None:
    assert await sent(server, tmp_path, "openai", PICTURE) == {
        "model": "gpt-5-mini",
        "instructions": "Does it greet?",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "<diff>+Hello</diff>"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
                ],
            }
        ],
        "max_output_tokens": 50,
        "store": False,
        "temperature": 0.0,
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": JUDGE}},
    }
    assert server.requests[-1].path == "/v1/responses"
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_chat_servers_are_asked_by_a_schema(server: ModelServer, tmp_path: Path) -> None:
    assert await sent(server, tmp_path, "openai-chat") == {
        "model": "gpt-5-mini",
        "messages": [
            {"role": "system", "content": "Does it greet?"},
            {"role": "user", "content": "<diff>+Hello</diff>"},
        ],
        "temperature": 0.0,
        "max_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": JUDGE},
        },
    }
    shown = await sent(server, tmp_path, "openai-chat", PICTURE)
    assert shown["messages"][1]["content"] == [
        {"type": "text", "text": "<diff>+Hello</diff>"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
    ]


async def test_google_is_asked_by_a_schema_in_its_own_words(server: ModelServer, tmp_path: Path) -> None:
    assert await sent(server, tmp_path, "google", PICTURE) == {
        "systemInstruction": {"parts": [{"text": "Does it greet?"}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "<diff>+Hello</diff>"},
                    {"inlineData": {"mimeType": "image/png", "data": DATA}},
                ],
            }
        ],
        "generationConfig": {
            "maxOutputTokens": 50,
            "temperature": 0.0,
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "OBJECT",
                "properties": {
                    "score": {"type": "NUMBER", "minimum": 0, "maximum": 1, "description": "From 0 to 1."},
                    "reason": {"type": "STRING"},
                },
                "propertyOrdering": ["score", "reason"],
                "required": ["score", "reason"],
            },
        },
    }
    assert server.requests[-1].path == "/v1/models/gemini-2.5-flash:generateContent"
    assert server.requests[-1].headers["x-goog-api-key"] == KEY


async def test_googles_words_for_choices_lists_and_what_may_be_null(server: ModelServer, tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "choice": {"enum": ["yes", "no"], "type": "string"},
            "notes": {"type": ["array", "null"], "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        },
    }
    server.answer = {"choice": "no", "notes": None}
    await Bench(kind="google", server=server, root=tmp_path).answer(ask(schema))
    assert server.requests[0].body["generationConfig"]["responseSchema"] == {
        "type": "OBJECT",
        "properties": {
            "choice": {"type": "STRING", "enum": ["yes", "no"]},
            "notes": {
                "type": "ARRAY",
                "nullable": True,
                "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
            },
        },
        "propertyOrdering": ["choice", "notes"],
        "required": [],
    }


async def test_google_takes_no_gif(server: ModelServer, tmp_path: Path) -> None:
    gif = Picture(name="a.gif", media_type="image/gif", data=b"GIF89a")
    google = Bench(kind="google", server=server, root=tmp_path)
    text = await google.error(ask(JUDGE, gif))
    assert "takes no picture of type 'image/gif' ('a.gif'); it takes image/jpeg, image/png, image/webp" in text
    assert google.asked == 0
    assert GOOGLE.takes_pictures


async def test_the_name_of_a_picture_is_never_sent(remote: Bench) -> None:
    await remote.answer(ask(JUDGE, PICTURE))
    assert "page.png" not in json.dumps(remote.server.requests[0].body)


@pytest.mark.parametrize("end", ["", "/"])
async def test_a_slash_at_the_end_of_a_base_url_changes_nothing(remote: Bench, end: str) -> None:
    await remote.answer(base_url=remote.server.url + end)
    assert "//" not in remote.server.requests[0].path


@pytest.mark.parametrize(("kind", "path"), [("anthropic", "/v1/messages"), ("google", "/v1beta/models/")])
async def test_a_base_url_may_leave_the_version_out(server: ModelServer, tmp_path: Path, kind: str, path: str) -> None:
    bench = Bench(kind=kind, server=server, root=tmp_path)
    await bench.answer(base_url=server.url.removesuffix("/v1"))
    assert server.requests[0].path.startswith(path)


@pytest.mark.parametrize(
    ("kind", "usage"),
    [
        ("anthropic", Usage(input=60, output=10, cache_read=40, cache_write=0)),
        ("openai", Usage(input=60, output=10, cache_read=40, reasoning=4)),
        ("openai-chat", Usage(input=60, output=10, cache_read=40, reasoning=4)),
        ("google", Usage(input=60, output=10, cache_read=40, reasoning=4)),
    ],
)
async def test_cached_tokens_are_no_input(server: ModelServer, tmp_path: Path, kind: str, usage: Usage) -> None:
    reply = await Bench(kind=kind, server=server, root=tmp_path).answer()
    assert reply.usage.total == 110
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        assert getattr(reply.usage, name) == getattr(usage, name)


@pytest.mark.parametrize(("kind", "priced"), [("anthropic", True), ("openai", True), ("google", True)])
async def test_a_known_model_has_a_cost(server: ModelServer, tmp_path: Path, kind: str, priced: bool) -> None:
    reply = await Bench(kind=kind, server=server, root=tmp_path).answer()
    assert reply.usage.cost is not None
    assert 0 < reply.usage.cost < 0.01


async def test_a_local_server_has_no_price_list(chat: Bench) -> None:
    assert (await chat.answer()).usage.cost is None


async def test_usage_that_makes_no_sense_is_unknown_and_no_error(chat: Bench) -> None:
    message = {"choices": [{"message": {"content": json.dumps(ANSWER)}}], "usage": {"prompt_tokens": -1}}
    chat.server.acts = [Act(raw=json.dumps(message).encode()), Act(raw=json.dumps({**message, "usage": 7}).encode())]
    assert (await chat.answer()).usage == Usage()
    assert (await chat.answer()).usage == Usage()


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"score": 0.75, "reason": "It greets."}\n```',
        '<think>\nA {greeting}.\n</think>\n{"score": 0.75, "reason": "It greets."}',
        '\n {"score": 0.75, "reason": "It greets."}\n',
    ],
)
async def test_what_local_models_put_around_their_json_is_left_out(chat: Bench, text: str) -> None:
    chat.server.acts = [Act(answer=text)]
    reply = await chat.answer()
    assert (reply.data, reply.tries) == (ANSWER, 1)


@pytest.mark.parametrize("arguments", [ANSWER, json.dumps(ANSWER)])
async def test_a_forced_function_may_be_called_with_data_or_text(chat: Bench, arguments: object) -> None:
    call = {"function": {"name": "answer", "arguments": arguments}}
    chat.server.acts = [Act(raw=json.dumps({"choices": [{"message": {"tool_calls": [call]}}]}).encode())]
    assert (await chat.answer()).data == ANSWER


async def test_a_filtered_answer_is_a_refusal(chat: Bench) -> None:
    filtered = {"choices": [{"message": {"content": "I"}, "finish_reason": "content_filter"}]}
    chat.server.acts = [Act(raw=json.dumps(filtered).encode())]
    assert 'refused to answer ("content filter")' in await chat.error()


def test_a_closed_schema_requires_every_property_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}}}
    schema = {"type": "object", "properties": {"a": inner, "list": {"type": "array", "items": inner}}, "required": []}
    shut = {**inner, "required": ["b"], "additionalProperties": False}
    assert closed(schema) == {
        "type": "object",
        "properties": {"a": shut, "list": {"type": "array", "items": shut}},
        "required": ["a", "list"],
        "additionalProperties": False,
    }
    assert closed({"anyOf": [inner, {"type": "null"}]}) == {"anyOf": [shut, {"type": "null"}]}


@pytest.mark.parametrize(
    ("usage", "found"),
    [({"a": {"b": 3}}, 3), ({"a": {"b": 0}}, 0), ({"a": {"b": True}}, None), ({"a": 3}, None), (None, None)],
)
def test_a_count_is_a_whole_number_or_unknown(usage: object, found: int | None) -> None:
    assert count(usage, "a", "b") == found


@pytest.mark.parametrize(("total", "part", "left"), [(5, 2, 3), (5, None, 5), (None, 2, None), (2, 5, 0)])
def test_a_part_is_taken_from_a_known_total(total: int | None, part: int | None, left: int | None) -> None:
    assert without(total, part) == left
