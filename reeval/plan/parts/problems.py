"""What is wrong with a plan? Every problem is collected, so that all are told at once."""

from __future__ import annotations

from reeval.errors import PlanError

__all__ = ["LATER", "Problems"]

LATER = "is not in this version yet"
"""Said of what reads well and cannot run: nothing that was asked for is silently left out."""


class Problems:
    """Collects problems, each once."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, place: str, text: str) -> None:
        """Add a problem with the place of what causes it."""
        self._found.setdefault(f"{place}: {text}")

    def extend(self, lines: tuple[str, ...]) -> None:
        """Add problems that already name their places."""
        for line in lines:
            self._found.setdefault(line)

    def raise_any(self) -> None:
        """Raise one ``PlanError`` with every problem, when there is one."""
        if self._found:
            raise PlanError("\n".join(self._found))
