from __future__ import annotations

import pytest

from reeval.sandboxes.processes.output import BoundedOutput


def bounded(data: bytes, limit: int, chunk: int) -> BoundedOutput:
    output = BoundedOutput(limit)
    for start in range(0, len(data), chunk):
        output.add(data[start : start + chunk])
    return output


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("limit", [1, 2, 9, 10, 11])
def test_what_fits_is_kept_as_it_is(limit: int, chunk: int) -> None:
    data = b"0123456789"[:limit]
    output = bounded(data, limit, chunk)
    assert (output.text(), output.truncated) == (data.decode(), False)


@pytest.mark.parametrize("chunk", [1, 2, 3, 64, 100_000])
def test_long_output_keeps_its_first_and_last_lines_and_says_what_is_missing(chunk: int) -> None:
    data = b"".join(b"line %04d\n" % number for number in range(1000))
    output = bounded(data, 100, chunk)
    assert output.truncated
    assert output.text() == (
        "line 0000\nline 0001\nline 0002\nline 0003\nline 0004\n"
        "[… 9,910 bytes left out …]\n"
        "line 0996\nline 0997\nline 0998\nline 0999\n"
    )


def test_the_same_bytes_give_the_same_text_however_they_arrive() -> None:
    data = bytes(range(256)) * 50
    assert len({bounded(data, 999, chunk).text() for chunk in (1, 13, 500, 20_000)}) == 1


def test_a_line_that_is_cut_is_cut_between_characters() -> None:
    text = bounded("é".encode() * 1000, 101, 7).text()
    assert "\ufffd" not in text
    assert text.startswith("é" * 25 + "\n[…")
    assert text.endswith("…]\n" + "é" * 25)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert bounded(b"a\xff\xed\xa0\x80\0b", 100, 3).text() == "a\ufffd\ufffd\ufffd\ufffd\0b"


def test_a_line_at_the_cut_is_left_out_whole_so_that_no_half_secret_remains() -> None:
    data = b"first\n" + b"password=hunter2hunter2\n" * 50 + b"last\n"
    first, *lines, last = [line for line in bounded(data, 120, 11).text().splitlines() if "left out" not in line]
    assert (first, last) == ("first", "last")
    assert set(lines) == {"password=hunter2hunter2"}


def test_a_stream_of_any_length_costs_bounded_memory() -> None:
    output = BoundedOutput(1000)
    for _ in range(2000):
        output.add(b"x" * 1000)
        assert len(output._head) + len(output._tail) <= 1500 + 1000
    assert "1,999,000 bytes left out" in output.text()
