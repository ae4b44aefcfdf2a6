"""What does a plain ``assert`` of an eval file become? Code that says when it held, and both sides when it did not.

``assert left == right, message`` becomes, with every part evaluated as often and in the same order as before::

    a = left
    b = right
    if a == b:
        passed(label, line)
        del a, b
    else:
        raise failed(label, line, "==", (a, b), (), message)

``assert result.ok`` keeps what the attribute is of as well, which often knows more than the value::

    owner = result
    a = owner.ok

It stands in the compiled code as ``if``, so it works under ``-O`` as well.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from types import CodeType
from typing import Any

__all__ = ["FAILED", "LABEL_LENGTH", "PASSED", "compile_eval", "squeezed"]

LABEL_LENGTH = 200
PASSED = "@reeval_passed"
"""The name in an eval module's globals that a passing assert calls: no author can write it."""
FAILED = "@reeval_failed"
"""The one that makes the error of a failing assert."""

_OWNER = "@reeval_owner"
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def compile_eval(source: bytes, filename: str) -> CodeType:
    """Compile an eval file, its asserts rewritten; raise ``SyntaxError`` as ``compile`` does."""
    tree = ast.parse(source, filename)
    if b"assert" in source:
        _rewrite(tree, source.splitlines(keepends=True), filename)
    # No __future__ of this module and no -O of this process may change what the author wrote.
    return compile(tree, filename, "exec", dont_inherit=True)


def squeezed(lines: Sequence[bytes], node: ast.expr | ast.stmt) -> str:
    """Return a node's source on one line, cut at ``LABEL_LENGTH`` characters. ``lines`` keep their ends."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if first == last:
        piece = lines[first][node.col_offset : node.end_col_offset]
    else:
        middle = lines[first + 1 : last]
        piece = b"".join((lines[first][node.col_offset :], *middle, lines[last][: node.end_col_offset]))
    text = " ".join(piece.decode("utf-8", "replace").split())
    return text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 1]}…"


def _rewrite(tree: ast.Module, lines: Sequence[bytes], filename: str) -> None:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            if any(isinstance(statement, ast.Assert) for statement in block):
                block[:] = [new for old in block for new in _replacement(old, lines, filename)]
            waiting += block


def _replacement(statement: ast.stmt, lines: Sequence[bytes], filename: str) -> list[ast.stmt]:
    if not isinstance(statement, ast.Assert):
        return [statement]
    test = statement.test
    if isinstance(test, ast.Tuple) and test.elts:
        text = "assertion is always true, as a tuple is; take out the parentheses"
        warnings.warn_explicit(text, SyntaxWarning, filename, statement.lineno)
    sides: list[ast.expr] = [test]
    operators: list[ast.cmpop] = []
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides, operators = [test.left, test.comparators[0]], test.ops
    make = _Maker(statement)
    names = [f"@reeval_{index}" for index, _ in enumerate(sides)]
    loads = [make.load(name) for name in names]
    owners: list[tuple[str, ast.expr]] = []
    if isinstance(first := sides[0], ast.Attribute):
        owners = [(_OWNER, first.value)]
        sides[0] = make.attribute(_OWNER, first.attr)
    held = make.compare(loads[0], operators[0], loads[1]) if operators else loads[0]
    about = [make.constant(squeezed(lines, test)), make.constant(statement.lineno)]
    seen = [make.constant(_OPERATORS[type(operators[0])] if operators else ""), make.tuple(loads)]
    seen.append(make.tuple([make.load(name) for name, _ in owners]))
    assigned = [*owners, *zip(names, sides, strict=True)]
    return [
        *(make.assign(name, side) for name, side in assigned),
        make.branch(
            held,
            [make.run(make.call(PASSED, about)), make.forget([name for name, _ in assigned])],
            [make.throw(make.call(FAILED, [*about, *seen, *([statement.msg] if statement.msg else [])]))],
        ),
    ]


class _Maker:
    """Makes nodes that stand where an assert stood: tracebacks show it, and no pass over the tree is needed."""

    def __init__(self, statement: ast.stmt) -> None:
        self._at: dict[str, Any] = {
            "lineno": statement.lineno,
            "col_offset": statement.col_offset,
            "end_lineno": statement.end_lineno,
            "end_col_offset": statement.end_col_offset,
        }

    def constant(self, value: str | int) -> ast.expr:
        return ast.Constant(value, **self._at)

    def load(self, name: str) -> ast.expr:
        return ast.Name(name, ast.Load(), **self._at)

    def attribute(self, name: str, attribute: str) -> ast.expr:
        return ast.Attribute(self.load(name), attribute, ast.Load(), **self._at)

    def tuple(self, items: list[ast.expr]) -> ast.expr:
        return ast.Tuple(items, ast.Load(), **self._at)

    def compare(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr:
        return ast.Compare(left, [operator], [right], **self._at)

    def call(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        return ast.Call(self.load(name), arguments, [], **self._at)

    def assign(self, name: str, value: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Name(name, ast.Store(), **self._at)], value, **self._at)

    def run(self, call: ast.expr) -> ast.stmt:
        return ast.Expr(call, **self._at)

    def forget(self, names: list[str]) -> ast.stmt:
        return ast.Delete([ast.Name(name, ast.Del(), **self._at) for name in names], **self._at)

    def branch(self, test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt]) -> ast.stmt:
        return ast.If(test, then, otherwise, **self._at)

    def throw(self, error: ast.expr) -> ast.stmt:
        return ast.Raise(error, **self._at)
