"""What names the task of an eval, so that two runs can be told to have asked and graded the same?"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from reeval.declare.bodies import values_of
from reeval.declare.drafts import MODULE_LOADS, Collector, EvalDraft, GroupDraft, TodoDraft
from reeval.declare.source.modules import Imports
from reeval.declare.source.slices import FunctionNode, ImportNode, Part, Slicer, first_line, read_part
from reeval.declare.source.values import value_digest

__all__ = ["TaskDigests"]

_WORDS = {"compare", "evaluate", "group", "questions", "reeval"}
"""Decorators of these say how an eval is run and read, not what it asks."""


class TaskDigests:
    """The digests of one file's evals.

    A task changes with: the eval's name, kind and cases · its body and what the body names in the file, all the way ·
    the values its body closes over · the project's modules that this code imports, all the way · the files it loaded.
    It does not change with comments, formatting, other evals, and the options in decorators.
    """

    def __init__(self, into: Collector, module: ModuleType) -> None:
        self._into = into
        self._module = module
        self._package = module.__package__ or ""
        self._imports = Imports(into.root)
        codes = [draft.code for draft in into.evals]
        codes += [group.function.__code__ for group in _groups(into.children) if hasattr(group.function, "__code__")]
        self._slicer = Slicer(Path(into.file).read_bytes(), codes, self._is_project)

    def task(self, draft: EvalDraft) -> str:
        """Return the digest of one eval's task."""
        node = self._slicer.node(draft.code) if draft.code.co_filename == self._into.file else None
        parts = [] if node is None else self._slicer.slice(node, self._decorators(node))
        files = self._project_files(parts, draft)
        spans = [part.lines for part in parts]
        if node is not None:
            spans.append((first_line(node), node.end_lineno or node.lineno))
        state = hashlib.sha256()
        for text in (
            draft.name,
            draft.kind,
            value_digest(values_of(draft.function)),
            *(text for case in draft.cases or () for text in (case.key, value_digest(case.value))),
            *(part.text for part in parts),
            *(f"{file.relative_to(self._into.root).as_posix()} {_facts(file).digest}" for file in sorted(files)),
            *sorted(self._loads(spans, files)),
        ):
            state.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return state.hexdigest()

    def _is_project(self, node: ImportNode) -> bool:
        return any(self._imports.files((node,), self._package))

    def _decorators(self, node: FunctionNode) -> list[ast.expr]:
        if isinstance(node, ast.Lambda):
            return []
        return [decorator for decorator in node.decorator_list if not self._is_word(decorator)]

    def _is_word(self, decorator: ast.expr) -> bool:
        while isinstance(decorator, ast.Call | ast.Attribute):
            decorator = decorator.func if isinstance(decorator, ast.Call) else decorator.value
        if not isinstance(decorator, ast.Name):
            return False
        known = getattr(self._module, decorator.id, None)
        home = known.__name__ if isinstance(known, ModuleType) else getattr(known, "__module__", None)
        return decorator.id in _WORDS or str(home).split(".")[0] == "reeval"

    def _project_files(self, parts: Iterable[Part], draft: EvalDraft) -> dict[Path, str]:
        """Return the project's modules that the code imports, all the way, with their names."""
        found: dict[Path, str] = {}
        waiting = list(self._imports.files((node for part in parts for node in part.imports), self._package))
        if draft.code.co_filename != self._into.file:
            # Declared by a function elsewhere: all of that module stands for the body.
            waiting += self._imports.of_code(draft.code.co_filename)
        while waiting:
            name, file = waiting.pop()
            if file not in found and str(file) != self._into.file:
                found[file] = name
                package = name if file.name == "__init__.py" else name.rpartition(".")[0]
                waiting += self._imports.files(_facts(file).imports, package)
        return found

    def _loads(self, spans: Sequence[tuple[int, int]], files: Mapping[Path, str]) -> Iterator[str]:
        for load in self._into.loads:
            if load.line == 0 or any(first <= load.line <= last for first, last in spans):
                yield f"{load.path} {load.sha256}"
        for name in files.values():
            for load in getattr(sys.modules.get(name), MODULE_LOADS, ()):
                yield f"{load.path} {load.sha256}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Facts:
    digest: str
    imports: tuple[ImportNode, ...]


def _facts(file: Path) -> _Facts:
    status = file.stat()
    return _read_facts(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _read_facts(file: Path, _modified: int, _size: int) -> _Facts:
    """Read one module of the project; many eval files import the same ones."""
    source = file.read_bytes()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # not imported yet, and perhaps never
        return _Facts(digest=hashlib.sha256(source).hexdigest(), imports=())
    part = read_part(tree)
    text = part.text.encode("utf-8", "surrogatepass")
    return _Facts(digest=hashlib.sha256(text).hexdigest(), imports=part.imports)


def _groups(children: Iterable[TodoDraft]) -> Iterator[GroupDraft]:
    for child in children:
        if isinstance(child, GroupDraft):
            yield child
            yield from _groups(child.children)
