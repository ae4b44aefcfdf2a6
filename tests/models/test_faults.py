"""Every fault of a provider, against a real server, for every kind that speaks HTTP."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.models.bench import KEY, Bench, ask
from tests.servers.models import ANSWER, Act, ModelServer
from tests.servers.wire import wire_of

pytestmark = pytest.mark.anyio

TEMPERATURE = {"google": "generationConfig.temperature"}
BROKEN = b'{"choices": [{"mess'


async def test_a_wrong_key_ends_the_call_and_names_the_variable(remote: Bench) -> None:
    remote.server.key = "sk-another"
    text = await remote.error()
    assert "refused the key (401:" in text
    assert "put a valid one into the variable THE_KEY" in text
    assert remote.asked == 1


async def test_a_server_that_wants_a_key_where_none_is_named_says_where_to_name_it(chat: Bench) -> None:
    chat.server.key = KEY
    text = await chat.error(key=None)
    assert "name the variable that holds it as key in [provider.openai-chat]" in text
    assert "authorization" not in chat.server.requests[0].headers


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (400, "refused the request (400"),
        (403, "use a key with access to it"),
        (404, "was not found (404"),
        (413, "show it less"),
        (302, "correct the base_url of [provider."),
        (204, "correct the base_url of [provider."),
    ],
)
async def test_what_another_try_cannot_mend_ends_at_once(remote: Bench, status: int, step: str) -> None:
    body = b"" if status == 204 else None
    remote.server.acts = [Act(status=status, message="no such thing", raw=body)]
    assert step in await remote.error()
    assert remote.asked == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_passing_error_is_tried_again(remote: Bench, status: int) -> None:
    remote.server.acts = [Act(status=status)]
    reply = await remote.answer()
    assert (reply.data, reply.tries) == (ANSWER, 2)


async def test_three_tries_are_the_most(remote: Bench) -> None:
    remote.server.acts = [Act(status=529, message="Overloaded")] * 5
    text = await remote.error()
    assert 'could not answer (529: "Overloaded"); try again later (after 3 tries)' in text
    assert remote.asked == 3


async def test_retry_after_is_waited_out(remote: Bench) -> None:
    remote.server.acts = [Act(status=429, headers={"Retry-After": "0.4"})]
    began = time.monotonic()
    assert (await remote.answer()).tries == 2
    assert time.monotonic() - began >= 0.4


async def test_retry_after_may_be_a_date(chat: Bench) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    chat.server.acts = [Act(status=429, headers={"Retry-After": date})]
    began = time.monotonic()
    assert (await chat.answer()).tries == 2
    assert time.monotonic() - began >= 0.9  # the date has whole seconds


async def test_a_wait_of_an_hour_ends_the_call(remote: Bench) -> None:
    remote.server.acts = [Act(status=429, headers={"Retry-After": "3600"})]
    text = await remote.error()
    assert "asks to wait 3600 s (429" in text
    assert "lower max_concurrent in [provider." in text
    assert remote.asked == 1


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (402, "", "Payment required"),
        (429, "insufficient_quota", "You exceeded your current quota."),
        (400, "invalid_request_error", "Your credit balance is too low to access the API."),
    ],
)
async def test_a_quota_that_is_used_up_ends_the_call(remote: Bench, status: int, code: str, message: str) -> None:
    remote.server.acts = [Act(status=status, code=code, message=message)]
    assert "has no quota left" in await remote.error()
    assert remote.asked == 1


@pytest.mark.parametrize("act", [Act(fault="cut"), Act(fault="drop"), Act(fault="no body"), Act(raw=BROKEN)])
async def test_a_broken_response_is_asked_for_again(remote: Bench, act: Act) -> None:
    remote.server.acts = [act]
    reply = await remote.answer()
    assert (reply.data, reply.tries) == (ANSWER, 2)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (Act(fault="cut"), "broke the connection ("),
        (Act(fault="drop"), "broke the connection ("),
        (Act(fault="no body"), "answered with nothing"),
        (Act(raw=BROKEN), "answered with JSON that is broken or cut"),
    ],
)
async def test_a_response_that_stays_broken_is_an_error(remote: Bench, act: Act, said: str) -> None:
    remote.server.acts = [act] * 3
    text = await remote.error()
    assert said in text
    assert text.endswith("(after 3 tries)")
    assert remote.asked == 3


async def test_a_body_that_is_no_json_ends_the_call(remote: Bench) -> None:
    remote.server.acts = [Act(raw=b"<html>\n<body>A proxy's\tlogin</body></html>")]
    text = await remote.error()
    assert 'answered with something that is not JSON: "<html> <body>A proxy\'s login</body></html>"' in text
    assert "check the base_url of [provider." in text
    assert remote.asked == 1


@pytest.mark.parametrize("raw", [b'{"hello": "world"}', b"[]", b"null", b'{"content": 1, "output": 1, "choices": 1}'])
async def test_json_of_another_shape_ends_the_call(remote: Bench, raw: bytes) -> None:
    remote.server.acts = [Act(raw=raw)]
    text = await remote.error()
    assert "answered with JSON of another shape" in text or "not JSON" in text
    assert "base_url of [provider." in text
    assert remote.asked == 1


@pytest.mark.parametrize(
    ("error", "asked", "said"),
    [
        ({"code": 502, "message": "Upstream is down."}, 3, 'could not answer (502: "Upstream is down.")'),
        ({"code": 401, "message": "No such user."}, 1, "put a valid one into the variable THE_KEY"),
        ({"type": "overloaded_error", "message": "Busy."}, 3, 'could not answer (500: "Busy.")'),
        ("busy", 3, 'could not answer (500: "busy")'),
    ],
)
async def test_an_error_with_status_200_is_an_error(remote: Bench, error: object, asked: int, said: str) -> None:
    remote.server.acts = [Act(raw=json.dumps({"error": error}).encode())] * 3
    assert said in await remote.error()
    assert remote.asked == asked


async def test_a_response_that_openai_marks_as_failed_is_tried_again(server: ModelServer, tmp_path: Path) -> None:
    failed = {"status": "failed", "error": {"code": "server_error", "message": "Broken."}, "output": []}
    server.acts = [Act(raw=json.dumps(failed).encode())]
    assert (await Bench(kind="openai", server=server, root=tmp_path).answer()).tries == 2


async def test_an_empty_answer_is_tried_once_more_and_is_then_an_error(remote: Bench) -> None:
    remote.server.acts = [Act(fault="empty")] * 2
    text = await remote.error()
    assert "gave an empty answer" in text
    assert remote.asked == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"score": "0.8", "reason": "As text."}, "$.score: '0.8' is not of type 'number'"),
        ({"score": 1.2, "reason": "Out of range."}, "$.score: 1.2 is greater than the maximum of 1"),
        ({"reason": "No score."}, "'score' is a required property"),
        ([0.8], "[0.8] is not of type 'object'"),
    ],
)
async def test_an_answer_of_the_wrong_shape_is_tried_once_more_and_is_then_an_error(
    remote: Bench, answer: object, said: str
) -> None:
    remote.server.acts = [Act(answer=answer)] * 2
    text = await remote.error()
    assert "gave an answer of the wrong shape" in text
    assert said in text
    assert "name a model that keeps to a schema" in text
    assert remote.asked == 2


async def test_the_usage_of_a_malformed_answer_counts(remote: Bench) -> None:
    once = await remote.answer()
    remote.server.acts = [Act(answer={"score": 7})]
    twice = await remote.answer()
    assert twice.tries == 2
    assert once.usage.output is not None
    assert twice.usage.output == 2 * once.usage.output


async def test_an_answer_that_is_no_json_is_tried_once_more(remote: Bench) -> None:
    remote.server.acts = [Act(answer="I would say 0.8.")]
    assert (await remote.answer()).tries == 2


async def test_a_refusal_ends_the_call_and_quotes_it(remote: Bench) -> None:
    remote.server.acts = [Act(fault="refusal", message="I can't help with that.")]
    text = await remote.error()
    assert 'refused to answer ("I can\'t help with that.")' in text
    assert remote.asked == 1


async def test_an_answer_that_runs_out_of_tokens_names_the_option(remote: Bench) -> None:
    remote.server.acts = [Act(fault="out of tokens")]
    assert "raise max_tokens in [provider." in await remote.error()
    assert remote.asked == 1


async def test_a_response_of_5_megabytes_is_not_read(remote: Bench) -> None:
    remote.server.acts = [Act(fault="huge")]
    assert "answered with more than 2 MB" in await remote.error()
    assert remote.asked == 1


async def test_a_server_that_hangs_ends_at_the_limit_after_one_more_try(remote: Bench) -> None:
    remote.server.acts = [Act(fault="hang")] * 3
    remote.options = {"timeout": 0.5}
    text = await remote.error()
    assert "did not answer within 0.5 s" in text
    assert remote.asked == 2


async def test_a_server_that_is_not_there_is_tried_three_times(remote: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        text = await remote.error(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert "could not be reached (" in text
    assert text.endswith("(after 3 tries)")


async def test_a_refused_temperature_is_left_out_for_the_rest_of_the_run(remote: Bench) -> None:
    remote.server.refuses = (TEMPERATURE.get(remote.kind, "temperature"),)
    async with remote.pool() as pool:
        assert (await pool.answer("it", ask())).data == ANSWER
        assert remote.asked == 2
        assert (await pool.answer("it", ask())).data == ANSWER
    assert remote.asked == 3
    assert '"temperature"' in json.dumps(remote.server.requests[0].body)
    assert '"temperature"' not in json.dumps([request.body for request in remote.server.requests[1:]])


async def test_each_refused_way_to_a_structured_answer_falls_back_to_the_next(remote: Bench) -> None:
    await remote.answer()
    ways = wire_of(remote.server.requests[0].path).schema_fields
    for number in range(1, len(ways) + 1):
        remote.server.requests.clear()
        remote.server.refuses = ways[:number]
        async with remote.pool() as pool:
            assert (await pool.answer("it", ask())).data == ANSWER
            assert remote.asked == number + 1
            await pool.answer("it", ask())
        assert remote.asked == number + 2
    assert '\\"maximum\\": 1' in json.dumps(remote.server.requests[-1].body)  # the schema stands in the text


async def test_a_model_that_refuses_everything_still_ends(remote: Bench) -> None:
    refusal = "temperature, max_tokens, max_completion_tokens, response_format, tool_choice, tools: all unsupported"
    remote.server.acts = [Act(status=400, message=refusal)] * 20
    assert "refused the request (400" in await remote.error()
    assert remote.asked < 10


async def test_the_newer_word_for_the_most_tokens_is_used_when_the_older_is_refused(chat: Bench) -> None:
    chat.server.refuses = ("max_tokens",)
    async with chat.pool() as pool:
        await pool.answer("it", ask(max_tokens=77))
        await pool.answer("it", ask(max_tokens=77))
    sent = [
        {key: value for key, value in request.body.items() if key.startswith("max")} for request in chat.server.requests
    ]
    assert sent == [{"max_tokens": 77}, {"max_completion_tokens": 77}, {"max_completion_tokens": 77}]


async def test_a_long_hostile_error_is_one_bounded_line(remote: Bench) -> None:
    remote.server.acts = [Act(status=400, message=f"{KEY} \x1b[31m\nred " * 50_000)]
    text = await remote.error()
    assert len(text) < 1000
    assert text.isprintable()
    assert "***" in text


async def test_a_prompt_with_bytes_that_are_no_text_is_sent_all_the_same(remote: Bench) -> None:
    assert (await remote.answer(ask(prompt="caf\udce9 \x00 \u2028"))).data == ANSWER
    assert "caf?" in json.dumps(remote.server.requests[0].body)


async def test_googles_own_wait_and_daily_quota_are_understood(server: ModelServer, tmp_path: Path) -> None:
    google = Bench(kind="google", server=server, root=tmp_path)
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.4s"}
    server.acts = [Act(status=429, raw=json.dumps({"error": {"code": 429, "details": [info]}}).encode())]
    began = time.monotonic()
    assert (await google.answer()).tries == 2
    assert time.monotonic() - began >= 0.4
    daily = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
    server.acts = [Act(status=429, raw=json.dumps({"error": {"code": 429, "details": [daily, info]}}).encode())]
    assert "has no quota left" in await google.error()
