"""What does a status other than success mean: whose fault is it, and would another try help?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.remote.quoting import quoted

__all__ = ["PASSING", "refused", "wait_before"]

PASSING = frozenset({408, 425, 429, 502, 503, 504})
"""Statuses of a server that has not begun: the same prompt may be sent again."""
_LONGEST_WAIT = 60.0
_FIRST_WAIT = 1.0


def wait_before(attempt: int, headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait before try ``attempt`` (from 1); None: the server asks for too long a wait."""
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked) if asked else _FIRST_WAIT * 2 ** (attempt - 1)
    except ValueError:
        seconds = _FIRST_WAIT * 2 ** (attempt - 1)
    if not math.isfinite(seconds):
        return None
    return max(0.0, seconds) if seconds <= _LONGEST_WAIT else None


def refused(status: int, location: str | None, body: bytes, tries: int) -> InfrastructureError:
    """Return what to say of a response that is no answer."""
    said = f"{status}: {quoted(body)}" if body.strip() else f"{status}"
    after = f" after {tries} tries" if tries > 1 else ""
    if 300 <= status < 400:
        where = f" to {quoted(location)}" if location else ""
        reason = f"the agent answered with a redirect{where} ({status}), which is not followed; correct the url"
    elif status in {401, 403}:
        reason = f"the agent refused the key ({said}); correct the headers, or the variable that they name"
    elif status in {404, 405, 410}:
        reason = f"the agent was not found ({said}); correct the url"
    elif status == 429:
        step = "lower max_concurrent of the harness, or try again later"
        return InfrastructureError(Phase.MODEL, f"the agent has too many requests{after} ({said}); {step}")
    elif status < 500:
        reason = f"the agent refused the request ({said})"
    else:
        reason = f"the agent failed{after} ({said}); look into its log, or try again later"
    return InfrastructureError(Phase.HARNESS, reason)
