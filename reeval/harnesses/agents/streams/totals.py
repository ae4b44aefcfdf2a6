"""What did a turn use, when an agent reports totals that run on over a conversation?"""

from __future__ import annotations

from reeval.harnesses.program.stream import Used

__all__ = ["RunningTotal"]


class RunningTotal:
    """The total so far; lives as long as the conversation."""

    def __init__(self) -> None:
        self._before = Used()

    def used(self, total: Used) -> Used:
        """Return what was used since the last total; one that fell began anew, and counts as it is."""
        before, self._before = self._before, total
        known = [(getattr(before, name) or 0, getattr(total, name)) for name in total.__struct_fields__]
        if any(now is not None and now < then for then, now in known):
            return total
        differences = (None if now is None else now - then for then, now in known)
        return Used(**dict(zip(total.__struct_fields__, differences, strict=True)))
