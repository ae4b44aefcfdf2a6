"""What is a thing called in ids and directories?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

__all__ = ["SLUG_LENGTH", "Slugs", "case_keys", "word"]

SLUG_LENGTH = 80

_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_SUFFIXES = re.compile(r"(\.eval)?\.py$")


def word(name: str) -> str:
    """Return ``name`` as a word of an id: what is not ``[A-Za-z0-9._-]`` becomes ``-``; empty when nothing is left."""
    return _OTHER.sub("-", name).strip("-") if _OTHER.search(name) else name


def case_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the words of an eval's case keys, in their order and different from one another.

    Where keys become the same word, each that is not that word itself gets a suffix made from its text: never
    from its position, since a case that is inserted must not rename the others.
    """
    words = [word(key) for key in keys]
    taken = Counter(words)
    return tuple(
        plain if plain and (plain == key or taken[plain] == 1) else f"{plain or 'case'}-{_digest(key)}"
        for key, plain in zip(keys, words, strict=True)
    )


class Slugs:
    """Gives each eval of a plan the name of its directory, also where letter case does not count."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, file: str, path: Sequence[str]) -> str:
        """Return a directory name for an eval: readable, at most ``SLUG_LENGTH`` long, and new."""
        stem = _SUFFIXES.sub("", file.removeprefix("evals/"))
        plain = "-".join(filter(None, map(word, (stem, *path)))).lstrip(".-")
        slug = plain if 0 < len(plain) <= SLUG_LENGTH else f"{plain[: SLUG_LENGTH - 9]}-{_digest(file, *path)}"
        if slug.casefold() in self._taken:
            slug = f"{plain[: SLUG_LENGTH - 9]}-{_digest(file, *path)}"
        self._taken.add(slug.casefold())
        return slug


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
