"""What does a plain ``assert`` of an eval file become? Code that says when it held, and both sides when it did not.

``assert left == right, message`` becomes, with every part evaluated as often and in the same order as before::

    a = left
    b = right
    if a == b:
        passed(label, line)
        del a, b
    else:
        raise failed(label, line, "==", (a, b), message)

It stands in the compiled code as ``if``, so it works under ``-O`` as well.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from types import CodeType

__all__ = ["FAILED", "LABEL_LENGTH", "PASSED", "compile_eval", "squeezed"]

LABEL_LENGTH = 200
PASSED = "@reeval_passed"
"""The name in an eval module's globals that a passing assert calls: no author can write it."""
FAILED = "@reeval_failed"
"""The one that makes the error of a failing assert."""

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
    sides, operators = [test], []
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides, operators = [test.left, test.comparators[0]], test.ops
    names = [f"@reeval_{index}" for index, _ in enumerate(sides)]
    loads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    held = ast.Compare(loads[0], operators, loads[1:]) if operators else loads[0]
    operator = _OPERATORS[type(operators[0])] if operators else ""
    about = [ast.Constant(squeezed(lines, test)), ast.Constant(statement.lineno)]
    given = [ast.Constant(operator), ast.Tuple(loads, ast.Load()), *([statement.msg] if statement.msg else [])]
    new: list[ast.stmt] = [
        *(ast.Assign([ast.Name(name, ast.Store())], side) for name, side in zip(names, sides, strict=True)),
        ast.If(
            held,
            [
                ast.Expr(ast.Call(ast.Name(PASSED, ast.Load()), list(about), [])),
                ast.Delete([ast.Name(name, ast.Del()) for name in names]),
            ],
            [ast.Raise(ast.Call(ast.Name(FAILED, ast.Load()), [*about, *given], []))],
        ),
    ]
    return [ast.fix_missing_locations(ast.copy_location(node, statement)) for node in new]
