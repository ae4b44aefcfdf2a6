"""Which part of a file's source is one function about? Its own code, and what that code names, all the way.

So the rest of the file, comments and formatting may change without changing what is found here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from types import CodeType
from typing import Any

__all__ = ["FunctionNode", "ImportNode", "Part", "Slicer", "first_line", "read_part"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ImportNode = ast.Import | ast.ImportFrom

_MEANINGLESS = {"ctx", "kind", "type_comment"}
_NOTED = {ast.Name, ast.AugAssign, ast.Import, ast.ImportFrom}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Part:
    """What one node says."""

    node: ast.AST
    text: str
    """Equal for code that means the same to the parser, in every version of Python."""
    names: frozenset[str]
    """What it reads."""
    stores: frozenset[str]
    """What it assigns and deletes."""
    imports: tuple[ImportNode, ...]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line it stands on; of a function, decorators included."""
        if isinstance(self.node, FunctionNode):
            return first_line(self.node), self.node.end_lineno or self.node.lineno
        first = getattr(self.node, "lineno", 0)  # `arguments` have no place of their own
        return first, getattr(self.node, "end_lineno", None) or first


class Slicer:
    """Finds the statements of one file that a function depends on."""

    def __init__(self, source: bytes, declared: Iterable[CodeType], is_project: Callable[[ImportNode], bool]) -> None:
        """``declared`` is the code of what the file declares: each stands on its own.

        ``is_project`` tells an import of the project's own modules from one of installed packages.
        """
        self._tree = ast.parse(source)
        self._is_project = is_project
        self._enclosing: dict[FunctionNode, tuple[FunctionNode, ...]] = {}
        self._by_place: dict[tuple[int, str], FunctionNode] = {}
        self._find_functions()
        found = (self.node(code) for code in declared)
        self._declared = {node for node in found if node is not None}
        self._scopes: dict[ast.AST, list[Part]] = {}

    def node(self, code: CodeType) -> FunctionNode | None:
        """Return the function that ``code`` was compiled from."""
        if code.co_name == "<lambda>":
            self._find_lambdas()
        return self._by_place.get((code.co_firstlineno, code.co_name))

    def slice(self, function: FunctionNode, decorators: Iterable[ast.expr]) -> list[Part]:
        """Return the parts of ``function``, its ``decorators`` that matter, and the statements they depend on."""
        body = function.body if isinstance(function.body, list) else [function.body]
        own = [read_part(node) for node in (*decorators, function.args, *body)]
        around = self._enclosing[function]
        statements = [part for scope in (self._tree, *around) for part in self._statements(scope)]
        candidates = [part for part in statements if part.node not in around]
        wanted = {name for part in own for name in part.names}
        chosen: list[Part] = []
        while True:
            more = [part for part in candidates if self._matters(part, wanted)]
            if not more:
                break
            chosen += more
            candidates = [part for part in candidates if part not in more]
            wanted.update(*(part.names for part in more))
        return [*own, *sorted(chosen, key=lambda part: part.lines)]

    def _matters(self, part: Part, wanted: AbstractSet[str]) -> bool:
        touched = _touched(part)
        if not touched.isdisjoint(wanted):
            return True
        if not isinstance(part.node, ImportNode) or not self._is_project(part.node):
            return False
        # A star import, or an import for its effect.
        return "*" in touched or touched.isdisjoint(self._used)

    def _statements(self, scope: ast.AST) -> list[Part]:
        if scope not in self._scopes:
            nodes = [node for node in getattr(scope, "body", ()) if node not in self._declared]
            self._scopes[scope] = [read_part(one, self._declared) for node in nodes for one in _single(node)]
        return self._scopes[scope]

    @cached_property
    def _used(self) -> frozenset[str]:
        whole = read_part(self._tree)
        return whole.names | whole.stores

    def _find_functions(self) -> None:
        waiting: list[tuple[ast.AST, tuple[FunctionNode, ...]]] = [(self._tree, ())]
        while waiting:
            node, around = waiting.pop()
            if isinstance(node, _DEFINITIONS):
                self._enclosing[node] = around
                self._by_place.setdefault((first_line(node), node.name), node)
                around = (*around, node)
            for field in _BLOCKS:
                waiting += [(child, around) for child in getattr(node, field, ())]

    def _find_lambdas(self) -> None:
        for scope, around in ((self._tree, ()), *((node, (*outer, node)) for node, outer in self._functions())):
            for node in ast.walk(scope):
                if isinstance(node, ast.Lambda):
                    self._enclosing[node] = around
                    self._by_place.setdefault((node.lineno, "<lambda>"), node)

    def _functions(self) -> list[tuple[FunctionNode, tuple[FunctionNode, ...]]]:
        return [(node, outer) for node, outer in self._enclosing.items() if not isinstance(node, ast.Lambda)]


def first_line(node: FunctionNode) -> int:
    """Return the line where a function's code begins, as its ``co_firstlineno`` says: the first decorator's."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min((decorator.lineno for decorator in decorators), default=node.lineno)


def read_part(node: ast.AST, without: AbstractSet[ast.AST] = frozenset()) -> Part:
    """Read a node in one pass, leaving out the nodes ``without`` and what is in them."""
    out: list[str] = []
    noted: list[Any] = []
    waiting: list[Any] = [node]
    while waiting:
        item = waiting.pop()
        kind = item.__class__
        if kind is list:
            waiting += (_END, *reversed(item), _START)
        elif kind is _Mark:
            out.append(item)
        elif not issubclass(kind, ast.AST):
            out.append(repr(item))
        elif item not in without:
            if kind in _NOTED:
                noted.append(item)
            out.append(kind.__name__)
            waiting.append(_END)
            for field, mark in _fields(kind):
                value = getattr(item, field, None)
                if value is not None and value != []:
                    waiting += (value, mark)
    return Part(
        node=node,
        text=" ".join(out),
        names=frozenset(name for item in noted if (name := _read_name(item)) is not None),
        stores=frozenset(
            item.id for item in noted if item.__class__ is ast.Name and not isinstance(item.ctx, ast.Load)
        ),
        imports=tuple(item for item in noted if isinstance(item, ImportNode)),
    )


def _read_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.AugAssign):
        return node.target.id if isinstance(node.target, ast.Name) else None
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else None


class _Mark(str):
    """A word of the text itself, where constants stand as their repr."""

    __slots__ = ()


_START, _END = _Mark("("), _Mark(")")


@cache
def _fields(kind: type[ast.AST]) -> tuple[tuple[str, _Mark], ...]:
    return tuple((field, _Mark(field)) for field in reversed(kind._fields) if field not in _MEANINGLESS)


def _touched(part: Part) -> frozenset[str]:
    """Return the names of which any one makes a statement matter: what it binds, or may change."""
    node = part.node
    if isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
        return frozenset((node.name,))
    if isinstance(node, ImportNode):
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        # The name below an attribute or a subscript as well: CONFIG["x"] = 1 is about CONFIG.
        return frozenset(inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name))
    return part.names | part.stores


def _single(node: ast.AST) -> list[ast.AST]:
    """Return an import statement as one statement for each name: each matters on its own."""
    if isinstance(node, ast.Import):
        return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node) for alias in node.names]
    return [node]
