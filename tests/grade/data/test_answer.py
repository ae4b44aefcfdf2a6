from __future__ import annotations

import json
import time

import pytest

from reeval.grade.data.answer import answer_sql
from reeval.schema.transcript import Turn


@pytest.mark.parametrize(
    ("message", "sql"),
    [
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("first\n```sql\nSELECT 1\n```\nno, better:\n```SQL\nSELECT 2\n```\ndone", "SELECT 2"),
        ("```postgresql\nSELECT 1\n```", "SELECT 1"),
        ("```\nWITH a AS (SELECT 1) SELECT * FROM a\n```", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("```\n-- by month\nselect 1\n```", "-- by month\nselect 1"),
        ("```\nno query, only words\n```", None),
        ("```python\nprint('SELECT 1')\n```", None),
        ("```sql\nSELECT 1\n```\n```text\nSELECT 2\n```", "SELECT 1"),
        ("```sql\n\n```", None),
        ("```sql\nSELECT 1", "SELECT 1"),
        ("````sql\nSELECT '\n```\n'\n````", "SELECT '\n```\n'"),
        ("~~~sql\nSELECT 1\n~~~", "SELECT 1"),
        ("1. so:\n   ```sql\n   SELECT 1\n   ```", "SELECT 1"),
        ("```sql\r\nSELECT 1,\r\n  2\r\n```\r\n", "SELECT 1,\n  2"),
        ("SELECT 1", None),
        ("`SELECT 1`", None),
        ("", None),
        (json.dumps({"sql": "SELECT 1", "text": "one"}), "SELECT 1"),
        (json.dumps({"sql": " "}), None),
        (json.dumps({"sql": 1}), None),
        ("{ not json", None),
        ("[" * 100_000 + "]" * 100_000, None),
        ("{" * 100_000 + "}", None),
    ],
)
def test_the_answer_is_a_field_or_the_last_block_of_sql(message: str, sql: str | None) -> None:
    assert answer_sql(Turn(prompt="", message=message)) == sql


def test_what_the_agent_says_it_ran_comes_first() -> None:
    assert answer_sql(Turn(prompt="", message="```sql\nSELECT 1\n```", sql="SELECT 2;\n")) == "SELECT 2;"
    assert answer_sql(Turn(prompt="", message="```sql\nSELECT 1\n```", sql="  ")) == "SELECT 1"


@pytest.mark.parametrize("piece", ["```sql\n", "```", "/*", "--\n", "```\n/*", "~~~\n`", "(", "\n"])
def test_a_message_of_megabytes_is_read_in_time(piece: str) -> None:
    began = time.monotonic()
    answer_sql(Turn(prompt="", message=piece * (2_000_000 // len(piece))))
    assert time.monotonic() - began < 20
