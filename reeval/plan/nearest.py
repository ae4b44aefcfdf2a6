"""Which of the known names was meant by an unknown one?"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["hint", "nearest"]

_SHOWN = 12


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the shortest known name that begins with ``word``, else the one most like it; None when none is."""
    from difflib import get_close_matches

    folded = {name.casefold(): name for name in known}
    wanted = word.casefold()
    begun = sorted((name for name in folded if wanted and name.startswith(wanted)), key=lambda name: (len(name), name))
    close = begun or get_close_matches(wanted, folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def hint(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'runs'?``, else what there is to choose from; ``there are none`` when nothing is."""
    names = sorted(set(known))
    if meant := nearest(word, names):
        return f"did you mean {meant!r}?"
    if not names:
        return "there are none"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(map(repr, names[:_SHOWN]))}{more}"
