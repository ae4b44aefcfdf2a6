"""How much of what an agent says is kept in a turn?"""

from __future__ import annotations

__all__ = ["MESSAGE_LIMIT", "NOTE_LIMIT", "NUMBER_LIMIT", "OUTPUT_LIMIT", "cut"]

MESSAGE_LIMIT = 2_000_000
"""Characters of a message: megabyte answers are answers."""
OUTPUT_LIMIT = 200_000
"""Characters of one tool call's output, of a reasoning, of an input."""
NOTE_LIMIT = 500
"""Characters of a note about something odd."""
NUMBER_LIMIT = (1 << 63) - 1
"""Of amounts and exit codes: JSON has numbers of any length, which no table takes and no figure can show."""


def cut(text: str, limit: int) -> str:
    """Return at most about ``limit`` characters: head and tail, with a note between them where some are left out."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    return f"{text[:head]}\n[{len(text) - limit} characters left out]\n{text[-tail:]}"
