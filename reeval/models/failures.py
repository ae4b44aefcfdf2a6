"""Why did a call to a model fail, what should the user do, and would another try help?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from reeval.errors import InfrastructureError, Phase
from reeval.schema.plan import PlannedModel
from reeval.secrets import Masker
from reeval.usage import Usage

__all__ = ["LONGEST_WAIT", "MOST_TRIES", "Complaint", "TryError", "quoted", "read_complaint", "refused"]

MOST_TRIES = 3
"""Of one call, whatever went wrong."""
LONGEST_WAIT = 60.0
"""Seconds: a provider that asks for a longer wait ends the call."""
_QUOTE = 500
_REASON = 2000
_PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another try may not meet; every status from 500 is one too."""
_NO_QUOTA = (
    "insufficient_quota",
    "billing_hard_limit",
    "billing_error",
    "billing_not_active",
    "credit balance",
    "perday",
)


class TryError(InfrastructureError):
    """A try that failed. ``reason`` is what the model did: ``refused the key (401); …``.

    ``tries`` is how many tries a call that fails so may have in all; 1: another would not help. ``wait`` is the
    seconds that the provider asked for, and ``pauses`` says that the wait is for all calls to it. ``usage`` is what
    the try cost all the same.
    """

    def __init__(
        self,
        reason: str,
        *,
        tries: int = 1,
        wait: float | None = None,
        pauses: bool = False,
        usage: Usage | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(Phase.MODEL, reason[:_REASON], detail=detail)
        self.tries = tries
        self.wait = wait
        self.pauses = pauses
        self.usage = usage


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """What a provider says in the body of an error, in whatever form it says it."""

    message: str
    code: str = ""
    """Its words for the kind of error, several side by side."""
    param: str = ""
    """The part of the request that it refuses, when it says so."""
    wait: float | None = None
    """Seconds to wait, when they stand in the body."""


def quoted(text: str, masker: Masker, limit: int = _QUOTE) -> str:
    """Return foreign text fit to stand in a message: on one line, masked, bounded, in quotes."""
    line = " ".join("".join(char if char.isprintable() else " " for char in masker.text(text)).split())
    return f'"{line}"' if len(line) <= limit else f'"{line[: limit - 1]}…"'


def read_complaint(body: bytes) -> Complaint:
    """Read the body of an error response; text that is no JSON is the message."""
    try:
        data = msgspec.json.decode(body)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return Complaint(message=body.decode("utf-8", "replace"))
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return Complaint(message=str(data))
    error = data.get("error", data)
    if not isinstance(error, dict):
        return Complaint(message=str(error))
    message = next((str(error[key]) for key in ("message", "detail", "msg") if error.get(key)), str(error))
    details = error["details"] if isinstance(error.get("details"), list) else []
    codes = [str(error[key]) for key in ("type", "code", "status") if error.get(key)]
    return Complaint(
        message=message,
        code=" ".join([*codes, *_quota_ids(details)]),
        param=str(error.get("param") or ""),
        wait=_delay(details),
    )


def refused(
    planned: PlannedModel, status: int, headers: Mapping[str, str], complaint: Complaint, masker: Masker
) -> TryError:
    """Return what to say of a response that is no answer, and whether another try may help."""
    said = f"{status}: {quoted(complaint.message, masker)}" if complaint.message.strip() else f"{status}"
    if _is_out_of_quota(status, complaint):
        return TryError(f"has no quota left ({said}); check the plan and billing of its account, or name another model")
    if status in _PASSING or status >= 500:
        return _passing(planned, status, said, _wait(headers, complaint))
    return TryError(_final(planned, status, said))


def _passing(planned: PlannedModel, status: int, said: str, wait: float | None) -> TryError:
    step = "try again later"
    if status == 429:
        step += f", or lower max_concurrent in [provider.{planned.provider}]"
    if wait is not None and wait > LONGEST_WAIT:
        return TryError(f"asks to wait {wait:.0f} s ({said}), longer than the {LONGEST_WAIT:.0f} s there are; {step}")
    pauses = status == 429 or wait is not None
    return TryError(f"could not answer ({said}); {step}", tries=MOST_TRIES, wait=wait, pauses=pauses)


def _final(planned: PlannedModel, status: int, said: str) -> str:  # noqa: PLR0911 - a table, a line for each status
    table = f"[provider.{planned.provider}]"
    if status == 401:
        if planned.key is None:
            return f"asks for a key ({said}); name the variable that holds it as key in {table}"
        return f"refused the key ({said}); put a valid one into the variable {planned.key}"
    if status == 403:
        return f"may not be used with this key ({said}); use a key with access to it, or name another model"
    if status in {404, 410}:
        return f"was not found ({said}); check the name {planned.model!r} and the base_url of {table}"
    if status == 413:
        return f"found the request too large ({said}); show it less (option state)"
    if status < 400:
        return f"answered with a redirect or without an answer ({said}); correct the base_url of {table}"
    return f"refused the request ({said}); correct what it names: the model's name, {table}, or how much it is shown"


def _is_out_of_quota(status: int, complaint: Complaint) -> bool:
    if status == 402:
        return True
    said = f"{complaint.code} {complaint.message}".lower()
    return status in {400, 403, 429} and any(words in said for words in _NO_QUOTA)


def _wait(headers: Mapping[str, str], complaint: Complaint) -> float | None:
    """Return the seconds of Retry-After, a number or an HTTP date, or of the body; None when neither says so."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        return _until(value) if value else complaint.wait
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _delay(details: list[Any]) -> float | None:
    """Return the seconds of Google's ``RetryInfo``, written ``"37s"``."""
    for part in details:
        delay = part.get("retryDelay") if isinstance(part, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            try:
                seconds = float(delay[:-1])
            except ValueError:
                continue
            return max(0.0, seconds) if math.isfinite(seconds) else None
    return None


def _quota_ids(details: list[Any]) -> list[str]:
    """Return the ids of Google's ``QuotaFailure``: that of a limit for each day holds ``PerDay``."""
    return [
        str(violation["quotaId"])
        for part in details
        if isinstance(part, dict) and isinstance(part.get("violations"), list)
        for violation in part["violations"]
        if isinstance(violation, dict) and violation.get("quotaId")
    ]
