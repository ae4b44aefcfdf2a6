"""How may an option that takes a run leave it out? ``--resume`` alone is ``--resume last``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["with_default_runs"]

_TAKES_A_RUN = frozenset({"--resume", "--retry-errors"})


def with_default_runs(words: Sequence[str]) -> list[str]:
    """Return the command line with ``last`` where an option that takes a run stands alone."""
    given: list[str] = []
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else "-"
        given.append(f"{word}=last" if word in _TAKES_A_RUN and following.startswith("-") else word)
    return given
