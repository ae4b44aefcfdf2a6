"""What may the ``[harness.NAME]`` table of any coding agent hold, beside ``model``, ``effort`` and the limits?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reeval.addresses import is_address

__all__ = ["AgentOptions"]

_VERSION = re.compile(r"\d[0-9A-Za-z.+-]*\Z")


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """The options that all coding agents share; a kind may add its own."""

    program: str | None = None
    """Its program in the sandbox: a name on the ``PATH``, or an absolute path; None: the agent's usual name."""
    install: bool = False
    """Install the program once, into the cache of this machine, and mount it into the sandbox."""
    version: str | None = None
    """The version to install, or that a program which is there must have."""
    base_url: str | None = None
    """Where its models answer; None: the agent's own."""
    key: str | None = None
    """The agent's variable that holds the key, when it is not the one that the program looks for."""
    retries: int = 3
    """How often the agent itself may repeat a call of its model."""
    turn_timeout: float = 3600.0
    """Seconds that a turn may take; then it is a failed turn."""
    args: tuple[str, ...] = ()
    """More arguments for the program."""
    env: dict[str, str] = field(default_factory=dict)
    """Plain variables of the program; secrets come from the ``env`` of the eval, the environment or the defaults."""

    def __post_init__(self) -> None:
        """Refuse what cannot be used."""
        if not 0 < self.turn_timeout < float("inf"):
            raise ValueError(f"a turn_timeout of more than 0 seconds, not {self.turn_timeout!r}")
        if not 0 <= self.retries <= 100:
            raise ValueError(f"retries from 0 to 100, not {self.retries!r}")
        if self.base_url is not None and not is_address(self.base_url):
            raise ValueError(f"a base_url such as 'http://localhost:8000/v1', not {self.base_url!r}")
        if self.version is not None and not _VERSION.match(self.version):
            raise ValueError(f'an exact version, such as "1.2.3", not {self.version!r}')
        if self.install and self.program is not None:
            raise ValueError("either install = true or a program that is there, not both")
