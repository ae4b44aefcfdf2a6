"""Certified queries: where they are, which name and space they have, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reeval.declare.data.questions import Questions, find_question_files, load_questions
from reeval.errors import DeclarationError

QUESTION = "eval_questions:\n  - name: a\n    question: What?\n    certifiedQuery: revenue\n"
X = "certified_queries/x.md"
INLINE = "{name: revenue, user_request: What?, sql_query: SELECT 1}"
FRONT = "---\nuser_request: What was the revenue?\n---\n"


def load(root: Path, files: dict[str, str]) -> Questions:
    for name, text in {"eval_questions.yml": QUESTION, **files}.items():
        path = root / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_questions(root, "agents", find_question_files(root, "agents"))


def truth(root: Path, files: dict[str, str]) -> str | None:
    (file,) = load(root, files).files
    (spec,) = file.children
    return spec.data.sql  # type: ignore[union-attr]


def refused(root: Path, files: dict[str, str]) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        load(root, files)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    "files",
    [
        {"certified_queries/revenue.md": FRONT + "SELECT 1"},
        {"certified-queries/revenue.md": FRONT + "\nSELECT 1\n"},
        {"certified_queries/other.md": FRONT.replace("---\nu", "---\nname: revenue\nu") + "SELECT 1"},
        {"certified_queries/auto/revenue.md": FRONT + "SELECT 1"},
        {"certified_queries/revenue.md": FRONT.replace("---\nu", "---\nsql_query: SELECT 1\nu") + "SELECT 2"},
        {"certified_queries/revenue.md": FRONT + "<!-- by Ada -->SELECT <!-- one\ntwo -->1"},
        {"certified_queries/revenue.md": FRONT + "<!-- by Ada -->\n```sql\nSELECT 1\n```\n"},
        {"certified_queries/revenue.md": ("\ufeff" + FRONT + "SELECT 1\n").replace("\n", "\r\n")},
        {"config.yml": "rules: [x]\ncertified_queries:\n- " + INLINE},
        {"config.yml": f"spaces:\n- name: auto\n  certified_queries: [{INLINE}]\n"},
    ],
)
def test_a_certified_query_is_found_by_its_name_in_the_space(tmp_path: Path, files: dict[str, str]) -> None:
    sql = truth(tmp_path, files)
    assert sql is not None
    assert " ".join(sql.split()) == "SELECT 1"


def test_a_query_of_the_agents_config_may_name_its_space(tmp_path: Path) -> None:
    config = "certified_queries:\n- " + INLINE.replace("{", "{space: finance, ")
    files = {"config.yml": config, "eval_questions.yml": "space: finance\n" + QUESTION}
    assert truth(tmp_path, files) == "SELECT 1"


def test_a_name_keeps_its_hyphens(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"certified_queries/reve-nue.md": FRONT + "SELECT 1"})
    assert loaded.unresolved == (
        (
            "agents/eval_questions.yml:4: question 'a' names the certified query 'revenue', which is not in the space "
            "'auto'; did you mean 'reve-nue'?"
        ),
    )


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "the space 'auto'; the space has none"),
        ({"certified_queries/finance/revenue.md": FRONT + "SELECT 1"}, "the space 'auto' but in 'finance'"),
        ({X: FRONT + "SELECT 1"}, "the space 'auto'; known: x"),
    ],
)
def test_a_query_that_is_not_there_leaves_its_question_without_truth(
    tmp_path: Path, files: dict[str, str], told: str
) -> None:
    loaded = load(tmp_path, files)
    (line,) = loaded.unresolved
    assert line.endswith(told)
    assert loaded.files[0].children[0].data.sql is None  # type: ignore[union-attr]
    assert loaded.files[0].children[0].data.certified_query == "revenue"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {X: "SELECT 1"},
            (f"{X}:1: there is no front matter; begin with '---', 'user_request: …' and '---', then the SQL"),
        ),
        ({X: "---\n---\nSELECT 1"}, f"{X}:1: the front matter is empty; it needs user_request"),
        ({X: "---\nname: x\n---\nSELECT 1"}, f"{X}:2: certified query has no user_request; add one"),
        (
            {X: "---\nuser_reqest: x\nuser_request: x\n---\nSELECT 1"},
            f"{X}:2: certified query has no key 'user_reqest'; did you mean 'user_request'?",
        ),
        (
            {X: FRONT + "<!-- x -->\n"},
            f"{X}:4: certified query has no SQL; write it below the front matter, or as sql_query",
        ),
        ({X: FRONT + "SELECT 1 <!-- x"}, f"{X}:4: a comment ('<!--') is not closed; end it with '-->'"),
        (
            {X: "---\nuser_request: x\nkind: rule\n---\nSELECT 1"},
            f"{X}:3: certified query is of the kind 'rule'; this folder holds certified queries, so move it",
        ),
        (
            {"certified_queries/b/x.md": "---\nuser_request: x\nspace: c\n---\nSELECT 1"},
            "certified_queries/b/x.md:3: certified query says space 'c', and its folder 'b'; drop one of them",
        ),
        (
            {X: "---\nuser_request: x\n\tname: x\n---\nSELECT 1"},
            f"{X}:3: this is not YAML: the line is indented with a tab; use spaces",
        ),
        (
            {"config.yml": "certified_queries:\n- name: x\n  user_request: y\n"},
            "config.yml:2: certified query 'x' has no sql_query; add one",
        ),
        (
            {"config.yml": f"spaces:\n- name: a\n  certified_queries:\n  - {INLINE.replace('{', '{space: b, ')}\n"},
            "config.yml:4: certified query 'revenue' says space 'b', and stands in that of 'a'; drop one of them",
        ),
        (
            {"config.yml": "certified_queries: []\nspaces: []\n"},
            "config.yml:1: the file has certified_queries beside spaces; move them into one of the spaces",
        ),
        (
            {"certified_queries/a.md": FRONT.replace("---\nu", "---\nname: x\nu") + "SELECT 1", X: FRONT + "SELECT 1"},
            (
                f"{X}:1: the certified query 'x' of the space 'auto' is also in agents/certified_queries/a.md:1; "
                "rename one of them"
            ),
        ),
    ],
)
def test_a_wrong_certified_query_is_told_with_its_line(tmp_path: Path, files: dict[str, str], said: str) -> None:
    assert refused(tmp_path, files) == [f"agents/{said}"]


def test_a_space_that_the_agents_config_does_not_declare_is_refused(tmp_path: Path) -> None:
    files = {
        "config.yml": "spaces:\n- name: finance\n",
        "eval_questions.yml": "space: finanse\neval_questions:\n- {name: a, question: What?, sql: SELECT 1}\n",
    }
    assert refused(tmp_path, files) == [
        (
            "agents/eval_questions.yml:1: the file has the space 'finanse', which the agents' config does not declare; "
            "did you mean 'finance'?"
        )
    ]


def test_the_rest_of_the_agents_config_is_none_of_our_business(tmp_path: Path) -> None:
    config = "agents:\n- name: x\n  skills: {a: [1, 2]}\nmodel: 7\n"
    assert truth(tmp_path, {"config.yml": config, "certified_queries/revenue.md": FRONT + "SELECT 1"}) == "SELECT 1"
