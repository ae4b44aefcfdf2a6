"""Which data questions do the files of ``agents/eval_questions`` declare?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from reeval.declare.data.certified import Certified, read_certified
from reeval.declare.data.documents import Source, Table, read_source
from reeval.errors import DeclarationError, did_you_mean
from reeval.schema.data.questions import AUTO_SPACE, DataQuestion
from reeval.schema.spec import EvalSpec, FileSpec

__all__ = ["Questions", "find_question_files", "load_questions"]

_STEM = "eval_questions"
_SUFFIXES = (".yml", ".yaml")
_FILE_KEYS = (_STEM, "space")
_KEYS = ("name", "question", "sql", "certifiedQuery", "exact", "tags")
_LONGEST_NAME = 200


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What the files declare."""

    files: tuple[FileSpec, ...] = ()
    unresolved: tuple[str, ...] = ()
    """A line for each question whose certified query is not there: an error of ``check``, and of that question alone
    in a run."""


def find_question_files(root: Path, folder: str) -> tuple[str, ...]:
    """Return the question files below ``folder``, from ``root``, with ``/``, sorted."""
    base = root / folder
    alone = [base / f"{_STEM}{suffix}" for suffix in _SUFFIXES]
    inside = sorted(path for path in (base / _STEM).glob("*") if path.suffix in _SUFFIXES and path.name[0] != ".")
    return tuple(path.relative_to(root).as_posix() for path in (*alone, *inside) if path.is_file())


def load_questions(root: Path, folder: str, paths: Sequence[str]) -> Questions:
    """Return the questions of these files; raise one ``DeclarationError`` with a line for every problem."""
    certified = read_certified(root, folder) if paths else Certified()
    reader = _Reader(certified)
    files = tuple(reader.file(read_source(root, path)) for path in paths)
    if problems := [*reader.problems, *certified.problems]:
        raise DeclarationError("\n".join(problems))
    return Questions(files=files, unresolved=tuple(reader.unresolved))


class _Reader:
    """Reads one file after the other, since a name is unique in its space over all of them."""

    def __init__(self, certified: Certified) -> None:
        self._certified = certified
        self._places: dict[tuple[str, str], str] = {}
        self.problems: list[str] = []
        self.unresolved: list[str] = []

    def file(self, source: Source) -> FileSpec:
        """Return what one file declares."""
        specs: tuple[EvalSpec, ...] = ()
        document = None if source.problems else source.document()
        if document:
            document.hold_to(_FILE_KEYS)
            space = self._space(document)
            specs = tuple(self._questions(document, space))
        if not source.problems and (document is None or _STEM not in document):
            source.add(1, f"there is no list {_STEM!r}; write '{_STEM}:' and below it a '- name: …' for each question")
        self.problems += source.problems
        return FileSpec(path=source.path, children=specs)

    def _space(self, document: Table) -> str:
        space = document.text("space", one_line=True) or AUTO_SPACE
        if "/" in space or "::" in space:
            document.wrong("space", f"has the space {space!r}; its name should be without '/' and '::'")
        known = self._certified.spaces
        if known and space != AUTO_SPACE and space not in known:
            near = did_you_mean(space, known)
            document.wrong("space", f"has the space {space!r}, which the agents' config does not declare{near}")
        return space

    def _questions(self, document: Table, space: str) -> Iterator[EvalSpec]:
        for table in document.tables(_STEM, "question"):
            name = table.needed("name", one_line=True)
            if name:
                table.name = f"question {name!r}"
                self._enter(table, space, name)
            table.hold_to(_KEYS)
            question, truth = table.needed("question"), self._truth(table, space)
            exact, tags = table.flag("exact"), table.texts("tags")
            if name and question and truth:
                asked = DataQuestion(name=name, space=space, question=question, exact=exact, **truth)
                yield _spec(asked, table.line, tags)

    def _enter(self, table: Table, space: str, name: str) -> None:
        if "::" in name or len(name) > _LONGEST_NAME:
            table.wrong(
                "name", f"has a name that cannot stand in ids; at most {_LONGEST_NAME} characters, without '::'"
            )
        place = f"{table.source.path}:{table.line_of('name')}"
        if before := self._places.get((space, name)):
            table.wrong("name", f"is also in {before}; names are unique in a space ({space}), so rename one of them")
        self._places.setdefault((space, name), place)

    def _truth(self, table: Table, space: str) -> dict[str, Any] | None:
        """Return the fields of the ground truth; None, with a problem, when there is not exactly one."""
        if ("sql" in table) == ("certifiedQuery" in table):
            both = "sql" in table
            said = "has sql and certifiedQuery; keep one" if both else "has no ground truth; add sql or certifiedQuery"
            table.wrong("certifiedQuery" if both else "name", said)
            return None
        if "sql" in table:
            sql = table.text("sql")
            return None if sql is None else {"sql": sql}
        named = table.text("certifiedQuery", one_line=True)
        if named is None:
            return None
        sql = self._certified.sql(space, named)
        if sql is None:
            place = f"{table.source.path}:{table.line_of('certifiedQuery')}"
            self.unresolved.append(f"{place}: {table.name} {self._certified.missing(space, named)}")
        return {"sql": sql, "certified_query": named}


def _spec(asked: DataQuestion, line: int, tags: tuple[str, ...]) -> EvalSpec:
    return EvalSpec(
        name=asked.name,
        kind="pass-fail",
        body=_nothing,
        blocking=False,
        line=line,
        options={"tags": list(tags)} if tags else {},
        description=asked.question,
        task=_task(asked),
        data=asked,
    )


def _task(asked: DataQuestion) -> str:
    """Return the digest of what is asked and how it is graded. Its names and its file change neither."""
    text = json.dumps([asked.question, asked.sql, asked.exact])
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


async def _nothing(_: Any) -> None:
    """Stand for the body: a run has its own for data questions."""
