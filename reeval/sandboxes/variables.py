"""Which variables has every process of an attempt, in any sandbox? None comes from the host, where nothing is asked."""

from __future__ import annotations

import hashlib

__all__ = ["own_variables"]


def own_variables(key: str, *, home: str, path: str, tmp: str, user: str = "agent") -> dict[str, str]:
    """Return the variables of the attempt with a key."""
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "LOGNAME": user,
        "PATH": path,
        # One word that tells the agent nothing: a variant's name could change what it does.
        "REEVAL_ATTEMPT": hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "TMPDIR": tmp,
        "TZ": "UTC",
        "USER": user,
    }
