"""Which part of a file's source is one function about? Its own code, and what that code names, all the way.

So the rest of the file, comments and formatting may change without changing what is found here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import CodeType

__all__ = ["FunctionNode", "Slicer", "first_line", "normal_form"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MEANINGLESS = {"ctx", "kind", "type_comment"}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Statement:
    node: ast.stmt
    touched: frozenset[str]
    """Naming one of these means that this statement matters."""
    names: frozenset[str]
    """What it names itself."""
    always: bool
    """It matters to everyone: a star import, an import for its effect."""


class Slicer:
    """Finds the statements of one file that a function depends on."""

    def __init__(self, source: bytes, declared: Iterable[CodeType]) -> None:
        """``declared`` is the code of what the file declares, each of which is on its own."""
        self._tree = ast.parse(source)
        self._enclosing: dict[FunctionNode, tuple[FunctionNode, ...]] = {}
        self._by_place: dict[tuple[int, str], FunctionNode] = {}
        self._find_functions()
        found = (self.node(code) for code in declared)
        self._declared = {node for node in found if node is not None}
        self._scopes: dict[ast.AST, list[_Statement]] = {}
        self._used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}

    def node(self, code: CodeType) -> FunctionNode | None:
        """Return the function that ``code`` was compiled from."""
        return self._by_place.get((code.co_firstlineno, code.co_name))

    def slice(self, function: FunctionNode, decorators: Iterable[ast.expr]) -> list[ast.AST]:
        """Return the parts of ``function``, its ``decorators`` that matter, and the statements they depend on."""
        own = [*decorators, function.args, *(function.body if isinstance(function.body, list) else [function.body])]
        around = self._enclosing[function]
        statements = [each for scope in (self._tree, *around) for each in self._statements(scope)]
        wanted = set().union(*(_names(part, frozenset()) for part in own))
        return [*own, *self._depended(statements, wanted, {function, *around})]

    def dump(self, part: ast.AST) -> str:
        """Return a part's normal form, without what the file declares inside it."""
        return normal_form(part, self._declared)

    def _depended(
        self, statements: list[_Statement], wanted: set[str], around: AbstractSet[ast.AST]
    ) -> Iterator[ast.stmt]:
        rest = [each for each in statements if each.node not in around]
        chosen: set[_Statement] = set()
        while True:
            more = [each for each in rest if each not in chosen and (each.always or each.touched & wanted)]
            if not more:
                break
            chosen.update(more)
            for each in more:
                wanted |= each.names
        return (each.node for each in rest if each in chosen)

    def _statements(self, scope: ast.AST) -> list[_Statement]:
        if scope not in self._scopes:
            body = scope.body if isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) else []
            kept = [statement for statement in body if statement not in self._declared]
            self._scopes[scope] = [self._statement(statement) for statement in kept]
        return self._scopes[scope]

    def _statement(self, node: ast.stmt) -> _Statement:
        names = frozenset(_names(node, self._declared))
        bound = _bound(node)
        effect = isinstance(node, ast.Import | ast.ImportFrom) and not (bound or frozenset()) & self._used
        star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        return _Statement(
            node=node,
            touched=names if bound is None else bound,
            names=names,
            always=star or (effect and not _is_future(node)),
        )

    def _find_functions(self) -> None:
        waiting: list[tuple[ast.AST, tuple[FunctionNode, ...]]] = [(self._tree, ())]
        while waiting:
            node, around = waiting.pop()
            if isinstance(node, _FUNCTIONS):
                self._enclosing[node] = around
                name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
                self._by_place.setdefault((first_line(node), name), node)
                around = (*around, node)
            waiting += [(child, around) for child in ast.iter_child_nodes(node)]


def first_line(node: FunctionNode) -> int:
    """Return the line where a function's code begins, as its ``co_firstlineno`` says: the first decorator's."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min((decorator.lineno for decorator in decorators), default=node.lineno)


def normal_form(part: ast.AST, without: AbstractSet[ast.AST] = frozenset()) -> str:
    """Return a text that is equal for code that means the same to the parser, in every version of Python."""
    out: list[str] = []
    waiting: list[object] = [part]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            if item in without:
                continue
            out.append(f"({type(item).__name__}")
            waiting.append(_END)
            for field in reversed(item._fields):
                value = getattr(item, field, None)
                if field not in _MEANINGLESS and value is not None and value != []:
                    waiting += (value, _Mark(field))
        elif isinstance(item, list):
            waiting += (_END, *reversed(item))
            out.append("[")
        else:
            out.append(item if isinstance(item, _Mark) else repr(item))
    return " ".join(out)


class _Mark(str):
    """A word of the normal form itself."""

    __slots__ = ()


_END = _Mark(")")


def _names(part: ast.AST, without: AbstractSet[ast.AST]) -> set[str]:
    found: set[str] = set()
    waiting = [part]
    while waiting:
        node = waiting.pop()
        if node in without:
            continue
        if isinstance(node, ast.Name):
            found.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return found


def _bound(node: ast.stmt) -> frozenset[str] | None:
    """Return the names that a simple statement binds; None: it may do anything to what it names."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return frozenset((node.name,))
    if isinstance(node, ast.Import | ast.ImportFrom):
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        # The name below an attribute or a subscript as well: CONFIG["x"] = 1 is about CONFIG.
        return frozenset(inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name))
    return None


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
