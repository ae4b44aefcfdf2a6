"""What goes into a line, what into files, and under which names."""

from __future__ import annotations

import pytest

from reeval.record.format import parts
from reeval.record.format.parts import FILE_LIMIT, cut_bytes, folder, numbered, safe_name, with_parts_as_files
from reeval.schema.record import FileRef
from reeval.schema.recorded.answers import JudgmentRecord
from tests.record.samples import attempt, big_turn, check, turn


@pytest.mark.parametrize("name", ["plain", "a.b", "A_b-c.9", "-", "...x", "x" * 80, "greet.greets-by-name"])
def test_a_safe_name_stays(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "...",
        "a/b",
        "../x",
        "a b",
        "é",
        "\x00",
        "x" * 81,
        "a\nb",
        "events.ndjson",
        "record.json",
        "\udce9",
    ],
)
def test_any_other_name_becomes_a_safe_one_of_its_own(name: str) -> None:
    safe = safe_name(name)
    assert safe != name
    assert 1 <= len(safe) <= 80
    assert safe_name(safe) == safe
    assert safe.strip(".")
    assert "/" not in safe
    assert safe != safe_name(name + "!")


def test_a_file_keeps_its_suffix() -> None:
    assert safe_name("my shot.png").endswith(".png")
    assert safe_name("../../a.tar.gz").endswith(".gz")
    assert folder("a", "b c", "..").count("/") == 2


@pytest.mark.parametrize(
    ("path", "number", "wanted"),
    [
        ("a/turns.ndjson", 1, "a/turns.ndjson"),
        ("a/turns.ndjson", 2, "a/turns-2.ndjson"),
        ("a.b/log", 3, "a.b/log-3"),
        (".hidden", 2, ".hidden-2"),
        ("x.tar.gz", 2, "x.tar-2.gz"),
    ],
)
def test_a_name_that_is_taken_gets_a_number(path: str, number: int, wanted: str) -> None:
    assert numbered(path, number) == wanted


def kept(record):
    files: dict[str, tuple[bytes, bool]] = {}

    def keep(name: str, data: bytes, cut: bool) -> FileRef:
        files[name] = (data, cut)
        return FileRef(file=name, bytes=len(data), sha256="", truncated=cut)

    return with_parts_as_files(record, keep), files


def test_only_parts_over_the_limit_become_files() -> None:
    record, files = kept(attempt(1, diff="d" * 4096, log="l" * 4097, turns=[turn(message="m" * 3000)]))
    assert list(files) == [parts.LOG]
    assert record.diff == "d" * 4096


def test_a_part_is_measured_in_bytes() -> None:
    record, files = kept(attempt(1, diff="é" * 2049, checks=[check("é" * 200) for _ in range(10)]))
    assert sorted(files) == [parts.CHECKS, parts.DIFF]
    assert record.turns == [turn()]


def test_judgments_over_the_limit_become_a_file_that_reads_back() -> None:
    short, long = JudgmentRecord(label="a", question="a?"), JudgmentRecord(label="b", question="b?", reason="r" * 5000)
    record, files = kept(attempt(1, judgments=[short], log="l" * 5000))
    assert record.judgments == [short]
    record, files = kept(attempt(1, judgments=[short, long]))
    assert isinstance(record.judgments, FileRef)
    assert parts.decode_judgments(files[parts.JUDGMENTS][0]) == [short, long]


def test_a_huge_part_is_cut_and_says_so() -> None:
    data, cut = cut_bytes(b"x" * (FILE_LIMIT + 5))
    assert cut
    assert len(data) <= FILE_LIMIT
    assert data.endswith(b"\n\xe2\x80\xa6 cut: 5 more bytes\n")
    assert cut_bytes(b"x") == (b"x", False)


def test_huge_turns_keep_their_form_with_texts_cut_in_the_middle() -> None:
    turns = [big_turn(FILE_LIMIT // 2), turn("last"), big_turn(FILE_LIMIT // 2)]
    record, files = kept(attempt(1, turns=turns))
    data, cut = files[parts.TURNS]
    found = parts.decode_turns(data)
    assert cut
    assert record.turns.truncated
    assert len(data) < 100_000
    assert [one.prompt for one in found] == ["Say hello", "last", "Say hello"]
    output = found[0].tool_calls[0].output
    assert output.startswith("xxx")
    assert output.endswith("xxx")
    assert "characters cut" in output
    assert parts.decode_statuses(data) == ["completed"] * 3
