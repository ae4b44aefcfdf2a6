"""Does an eval match ``-k EXPR``?

``EXPR`` joins words with ``and``, ``or``, ``not`` and parentheses. A word, or a text in quotes, matches where it
stands anywhere in what it is compared with, whatever the letter case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from reeval.errors import UsageError

__all__ = ["Matches", "compile_keyword"]

Matches = Callable[[str], bool]
"""Takes the text to look in, casefolded."""

_TOKEN = re.compile(r"""\s*(?:(?P<sign>[()])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s()"']+))""")
_OPERATORS = frozenset({"and", "or", "not"})
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    column: int
    """From 1."""
    literal: bool = False
    """A word to look for, not an operator or a parenthesis."""


def compile_keyword(expression: str) -> Matches:
    """Return the test that ``expression`` stands for; ``UsageError`` with the place where it makes no sense."""
    parser = _Parser(expression)
    matches = parser.any_of(0)
    if (token := parser.token) is not None:
        raise parser.wrong(f"expected 'and' or 'or' before {token.text!r}")
    return matches


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = self._split(expression)
        self._next = 0

    @property
    def token(self) -> _Token | None:
        """The token that comes next; None at the end."""
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def any_of(self, depth: int) -> Matches:
        """Parse terms joined by ``or``."""
        terms = [self._all_of(depth)]
        while self._take("or"):
            terms.append(self._all_of(depth))
        return terms[0] if len(terms) == 1 else lambda text: any(term(text) for term in terms)

    def wrong(self, reason: str) -> UsageError:
        """Return the error that points at the next token."""
        token = self.token
        column = token.column if token else len(self._expression) + 1
        return _wrong(self._expression, column, reason)

    def _all_of(self, depth: int) -> Matches:
        terms = [self._negated(depth)]
        while self._take("and"):
            terms.append(self._negated(depth))
        return terms[0] if len(terms) == 1 else lambda text: all(term(text) for term in terms)

    def _negated(self, depth: int) -> Matches:
        negated = False
        while self._take("not"):
            negated = not negated
        term = self._term(depth)
        return (lambda text: not term(text)) if negated else term

    def _term(self, depth: int) -> Matches:
        if self._take("("):
            if depth == _DEEPEST:
                raise self.wrong(f"more than {_DEEPEST} parentheses inside one another")
            inside = self.any_of(depth + 1)
            if not self._take(")"):
                raise self.wrong("expected ')'")
            return inside
        token = self.token
        if token is None or not token.literal:
            raise self.wrong("expected a word")
        self._next += 1
        wanted = token.text.casefold()
        return lambda text: wanted in text

    def _take(self, sign: str) -> bool:
        token = self.token
        found = token is not None and not token.literal and token.text == sign
        self._next += found
        return found

    def _split(self, expression: str) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while expression[at:].strip():
            match = _TOKEN.match(expression, at)
            if match is None:
                column = len(expression) - len(expression[at:].lstrip()) + 1
                raise _wrong(expression, column, "a quote that is not closed")
            text = next(group for group in match.groups() if group is not None)
            literal = match["sign"] is None and (match["word"] is None or text not in _OPERATORS)
            tokens.append(_Token(text, match.end() - len(match[0].lstrip()) + 1, literal))
            at = match.end()
        return tokens


def _wrong(expression: str, column: int, reason: str) -> UsageError:
    shown = "".join(char if char.isprintable() else "?" for char in expression)
    return UsageError(f"-k {expression!r}: column {column}: {reason}\n    {shown}\n    {' ' * (column - 1)}^")
