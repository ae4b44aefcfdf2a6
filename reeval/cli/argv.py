"""What may a person type that an option parser would refuse? ``--resume`` alone, and SQL that begins with ``--``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["as_meant"]

_TAKES_A_RUN = frozenset({"--resume", "--retry-errors"})


def as_meant(words: Sequence[str]) -> list[str]:
    """Return the command line as it is meant.

    An option that takes a run and stands alone means the last one. A word that begins with ``-- `` or spans lines is no
    option but SQL that begins with a comment: a space in front of it says so.
    """
    given: list[str] = []
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else "-"
        if word in _TAKES_A_RUN and following.startswith("-"):
            given.append(f"{word}=last")
        else:
            given.append(f" {word}" if _is_sql_comment(word) else word)
    return given


def _is_sql_comment(word: str) -> bool:
    return word.startswith("-- ") or (word.startswith("--") and "\n" in word)
