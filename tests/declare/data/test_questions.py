"""Question files: every problem is told with its file and line, all of them together."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from reeval.declare.data.questions import Questions, find_question_files, load_questions
from reeval.errors import DeclarationError
from reeval.schema.data.questions import DataQuestion

FILE = "agents/eval_questions.yml"
TWO = """\
eval_questions:
  - name: revenue_by_quarter
    question: What was our revenue by quarter?
    sql: |
      SELECT quarter, sum(amount)
      FROM orders GROUP BY 1
  - name: customers
    question: How many customers are there?
    sql: SELECT count(*) FROM customers
    exact: true
    tags: [smoke, people]
"""
NO_LIST = "1: there is no list 'eval_questions'; write 'eval_questions:' and below it a '- name: …' for each question"
A_LIST = "it should be a list, one '- name: …' for each question"
REST = "\n    question: What?\n    sql: SELECT 1"


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def load(root: Path, files: dict[str, str | bytes]) -> Questions:
    write(root, files)
    return load_questions(root, "agents", find_question_files(root, "agents"))


def asked(root: Path, text: str | bytes) -> list[DataQuestion]:
    (file,) = load(root, {FILE: text}).files
    return [child.data for child in file.children if child.data]  # type: ignore[union-attr]


def refused(root: Path, files: dict[str, str | bytes]) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        load(root, files)
    return str(caught.value).splitlines()


def test_a_question_has_a_name_a_question_and_sql(tmp_path: Path) -> None:
    assert asked(tmp_path, TWO) == [
        DataQuestion(
            name="revenue_by_quarter",
            question="What was our revenue by quarter?",
            sql="SELECT quarter, sum(amount)\nFROM orders GROUP BY 1",
        ),
        DataQuestion(
            name="customers",
            question="How many customers are there?",
            sql="SELECT count(*) FROM customers",
            exact=True,
        ),
    ]


def test_a_question_keeps_its_line_and_tags(tmp_path: Path) -> None:
    (file,) = load(tmp_path, {FILE: TWO}).files
    assert [(child.line, child.options) for child in file.children if child.name == "customers"] == [  # type: ignore[union-attr]
        (7, {"tags": ["smoke", "people"]})
    ]


def test_the_files_are_merged_in_the_order_of_their_names(tmp_path: Path) -> None:
    one = "eval_questions:\n  - {name: NAME, question: What?, sql: SELECT 1}\n"
    files: dict[str, str | bytes] = {
        "agents/eval_questions/b.yaml": one.replace("NAME", "b"),
        "agents/eval_questions/a.yml": one.replace("NAME", "a"),
        FILE: one.replace("NAME", "alone"),
        "agents/eval_questions/.hidden.yml": "[",
        "agents/eval_questions/notes.txt": "[",
    }
    loaded = load(tmp_path, files)
    assert [(file.path, file.children[0].name) for file in loaded.files] == [
        (FILE, "alone"),
        ("agents/eval_questions/a.yml", "a"),
        ("agents/eval_questions/b.yaml", "b"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", NO_LIST),
        ("space: x\n", NO_LIST),
        ("- a\n", "1: the file is a list; it should be keys with values"),
        (
            "eval_question: []\neval_questions: []\n",
            "1: the file has no key 'eval_question'; did you mean 'eval_questions'?",
        ),
        ("eval_questions: 3\n", f"1: the file has eval_questions '3'; {A_LIST}"),
        ("eval_questions:\n  name: a\n", f"1: the file has eval_questions a table; {A_LIST}"),
        ("eval_questions:\n  - a\n", "2: question 1 is 'a'; it should be keys with values"),
        (
            "space: a/b\neval_questions: []\n",
            "1: the file has the space 'a/b'; its name should be without '/' and '::'",
        ),
        ("space: 7\neval_questions: []\n", "1: the file has space '7'; a number to YAML, so put it in quotes"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, {FILE: text}) == [f"{FILE}:{said}"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("question: What?\n    sql: SELECT 1", ["2: question 1 has no name; add one"]),
        ("name: a\n    sql: SELECT 1", ["2: question 'a' has no question; add one"]),
        ("name: a\n    question: What?", ["2: question 'a' has no ground truth; add sql or certifiedQuery"]),
        (
            "name: a\n    question: What?\n    sql: SELECT 1\n    certifiedQuery: b",
            ["5: question 'a' has sql and certifiedQuery; keep one"],
        ),
        (
            "name: a\n    question: What?\n    certified_query: b",
            [
                "4: question 'a' has no key 'certified_query'; did you mean 'certifiedQuery'?",
                "2: question 'a' has no ground truth; add sql or certifiedQuery",
            ],
        ),
        (
            "name: a::b" + REST,
            ["2: question 'a::b' has a name that cannot stand in ids; at most 200 characters, without '::'"],
        ),
        ("name: ''" + REST, ["2: question 1 has an empty name; write it, or leave the key out"]),
        (
            "name: a\n    question: ' '\n    sql: SELECT 1",
            ["3: question 'a' has an empty question; write it, or leave the key out"],
        ),
        (
            "name: a\n    question: What?\n    sql: ''",
            ["4: question 'a' has an empty sql; write it, or leave the key out"],
        ),
        ("name: a\n    question: What?\n    sql:", ["4: question 'a' has sql nothing; it should be a text"]),
        ("name: 2024" + REST, ["2: question 1 has name '2024'; a number to YAML, so put it in quotes"]),
        ("name: yes" + REST, ["2: question 1 has name 'yes'; a flag to YAML, so put it in quotes"]),
        ("name: [a]" + REST, ["2: question 1 has name a list; it should be a text"]),
        ('name: "a\\nb"' + REST, ["2: question 1 has name 'a\\nb'; it should be one line of plain characters"]),
        ("name: a" + REST + "\n    exact: 1", ["5: question 'a' has exact '1'; it should be true or false"]),
        ("name: a" + REST + "\n    tags: [1]", ["5: question 'a' has tags a list; it should be a list of texts"]),
        ("name: a\n    name: b" + REST, ["3: question 1 has the key 'name' twice (line 2); drop one"]),
        (
            "name: a\n    question: What?\n    <<: {sql: SELECT 1}",
            [
                "4: question 1 merges keys ('<<'), which is not read; write them out",
                "2: question 'a' has no ground truth; add sql or certifiedQuery",
            ],
        ),
        (
            "? [x]\n    : y",
            [
                "2: question 1 has a key that is no text; write 'name: value'",
                "2: question 1 has no name; add one",
                "2: question 1 has no question; add one",
                "2: question 1 has no ground truth; add sql or certifiedQuery",
            ],
        ),
    ],
)
def test_a_wrong_question_is_told_with_its_line(tmp_path: Path, fields: str, said: list[str]) -> None:
    assert refused(tmp_path, {FILE: f"eval_questions:\n  - {fields}\n"}) == [f"{FILE}:{line}" for line in said]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("eval_questions:\n\t- name: a\n", "2: this is not YAML: the line is indented with a tab; use spaces"),
        (
            "eval_questions:\n  - name: a: b\n",
            (
                "2: this is not YAML: mapping values are not allowed in this context, column 12; "
                "indent its keys alike, and put a text that holds ': ' in quotes, or write it below with '|'"
            ),
        ),
        (
            'eval_questions:\n  - name: "a\n    question: b\n',
            (
                "4: this is not YAML: found unexpected end of stream, column 1, "
                "while scanning a quoted scalar that begins in line 2"
            ),
        ),
        ("eval_questions: *gone\n", "1: this is not YAML: found undefined alias, column 17"),
        ("eval_questions: []\n---\neval_questions: []\n", "2: a second document begins here; keep everything in one"),
        ("eval_questions: " + "[" * 100_000, "1: this is not YAML: exceeded maximum nesting depth, column 1016"),
        ("eval_questions:\n  - " + "- " * 100_000, "2: this is not YAML: exceeded maximum nesting depth, column 1999"),
        (b"eval_questions:\n  - name: \xff\n", "2: byte 26 is not UTF-8; save the file as UTF-8"),
        ("eval_questions: []\nspace: \x07\n", "2: this is not YAML: control characters are not allowed"),
    ],
    ids=["tab", "colon", "quote", "alias", "documents", "flow-depth", "block-depth", "bytes", "control"],
)
def test_what_is_no_yaml_is_told_with_its_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    (line,) = refused(tmp_path, {FILE: text})
    assert line == f"{FILE}:{said}"


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    plain = asked(tmp_path, TWO)
    assert asked(tmp_path, b"\xef\xbb\xbf" + TWO.replace("\n", "\r\n").encode()) == plain


def test_anchors_are_read_and_aliases_of_aliases_cost_only_what_is_written(tmp_path: Path) -> None:
    shared = (
        "eval_questions:\n  - &first\n    name: a\n    question: &q What?\n    sql: &s SELECT 1\n"
        "  - {name: b, question: *q, sql: *s}\n"
    )
    assert [(one.name, one.question, one.sql) for one in asked(tmp_path, shared)] == [
        ("a", "What?", "SELECT 1"),
        ("b", "What?", "SELECT 1"),
    ]
    laughs = "a: &a [x, x]\n" + "".join(
        f"{chr(97 + n)}: &{chr(97 + n)} [{', '.join([f'*{chr(96 + n)}'] * 9)}]\n" for n in range(1, 20)
    )
    assert len(refused(tmp_path, {FILE: laughs})) == 20
    assert refused(tmp_path, {FILE: "eval_questions: &x [*x, *x]\n"}) == [
        f"{FILE}:1: question 1 is a list; it should be keys with values",
        f"{FILE}:1: question 2 is a list; it should be keys with values",
    ]
    assert refused(tmp_path, {FILE: shared + "  - *first\n"}) == [
        f"{FILE}:3: question 'a' is also in {FILE}:3; names are unique in a space (auto), so rename one of them"
    ]


def test_a_tag_makes_no_object(tmp_path: Path) -> None:
    text = f"eval_questions:\n  - name: !!python/object/apply:os.system ['touch gone']{REST}\n"
    assert refused(tmp_path, {FILE: text}) == [f"{FILE}:2: question 1 has name a list; it should be a text"]


def test_a_name_is_unique_in_its_space_over_all_files(tmp_path: Path) -> None:
    one = "SPACEeval_questions:\n  - name: a\n    question: What?\n    sql: SELECT 1\n"
    files: dict[str, str | bytes] = {
        "agents/eval_questions/a.yml": one.replace("SPACE", ""),
        "agents/eval_questions/b.yml": one.replace("SPACE", "space: auto\n"),
        "agents/eval_questions/c.yml": one.replace("SPACE", "space: finance\n"),
    }
    assert refused(tmp_path, files) == [
        (
            "agents/eval_questions/b.yml:3: question 'a' is also in agents/eval_questions/a.yml:2; "
            "names are unique in a space (auto), so rename one of them"
        )
    ]


def test_the_problems_of_all_files_come_together(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        FILE: "eval_questions:\n  - name: a\n  - nme: b\n",
        "agents/eval_questions/b.yml": "eval_questions: 1\n",
        "agents/certified_queries/x.md": "no front matter",
    }
    assert [line.partition(" ")[0] for line in refused(tmp_path, files)] == [
        f"{FILE}:2:",
        f"{FILE}:2:",
        f"{FILE}:3:",
        f"{FILE}:3:",
        f"{FILE}:3:",
        f"{FILE}:3:",
        "agents/eval_questions/b.yml:1:",
        "agents/certified_queries/x.md:1:",
    ]


def test_the_digest_of_a_task_is_what_is_asked_and_how_it_is_graded(tmp_path: Path) -> None:
    def task(text: str) -> str:
        (file,) = load(tmp_path, {FILE: text}).files
        (spec,) = file.children
        return spec.task  # type: ignore[union-attr]

    text = "eval_questions:\n  - {name: a, question: What?, sql: SELECT 1}\n"
    assert task(text) == task(text.replace("name: a", "name: b"))
    assert len({task(text), task(text.replace("What", "Who")), task(text.replace("1}", "1, exact: true}"))}) == 3


def test_ten_thousand_questions_are_read_in_seconds(tmp_path: Path) -> None:
    text = "eval_questions:\n" + "".join(
        f"  - name: q{number}\n    question: What was month {number}?\n    sql: |\n      SELECT a\n      FROM t\n"
        for number in range(10_000)
    )
    started = time.process_time()
    assert len(asked(tmp_path, text)) == 10_000
    assert time.process_time() - started < 20
