"""What does the output of a coding agent make of a turn?"""

from __future__ import annotations

import re

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.agents.agent import Ending, Translator
from reeval.harnesses.program.answers import EventAnswer
from reeval.harnesses.program.endings import described
from reeval.schema.transcript import Channel

__all__ = ["AgentAnswer", "may_pass"]

_LINE_LIMIT = 64 << 20
"""Bytes of an event: one with a tool's output of 20 MB is read, and the output cut."""
_PASSING = re.compile(
    r"\b(429|5\d\d)\b|rate.?limit|overload|capacity|unavailable|too many requests|"
    r"connect|network|timed? ?out|disconnect|socket|ECONN|reset|fetch failed|terminated|stream ended",
    re.IGNORECASE,
)
_LASTING = re.compile(r"\b40[0134]\b|quota|billing|credit|unauthori|invalid.{0,10}key|log ?in", re.IGNORECASE)


class AgentAnswer(EventAnswer):
    """Lines of an agent, through its translator, become the events of a turn.

    ``first``: nothing was asked before this turn, so a model that could not be had may be tried again from the start.
    """

    def __init__(self, name: str, translator: Translator, unreported: frozenset[Channel], *, first: bool) -> None:
        super().__init__(unreported, read=translator.lines, line_limit=_LINE_LIMIT)
        self._name = name
        self._translator = translator
        self._first = first

    def end(self, ending: Ending) -> str | None:
        """Take the program's end and return why the agent failed, None when it finished.

        Its last events decide, and the exit code only where there are none. Raises ``InfrastructureError`` when the
        model could not be had (phase ``model``) or the program died (phase ``harness``).
        """
        self.finish()
        self.take(self._translator.end(ending))
        failed = self.failed
        if failed and failed.kind == "provider":
            reason = f"{self._name}: {failed.message}"
            raise InfrastructureError(Phase.MODEL, reason, retryable=self._first and may_pass(failed.message))
        if failed and self.ended:
            return failed.message
        if self.ended:
            return None
        code = ending.exit_code
        how = described(code, ending.stderr) if code is not None else "it was ended"
        raise InfrastructureError(Phase.HARNESS, f"{self._name} ended without saying how its turn ended: {how}")

    def cut(self, reason: str) -> str:
        """Take that the turn was cut, and return why it failed; raise when the model was not to be had meanwhile."""
        if self.ended:
            return self.end(Ending(exit_code=None, stderr="")) or reason
        if self.trouble is not None:
            raise InfrastructureError(Phase.MODEL, f"{self._name}: {reason}; last: {self.trouble}")
        self.finish()
        self.take(self._translator.end(Ending(exit_code=None, stderr="")))
        return reason


def may_pass(message: str) -> bool:
    """Say whether what a provider refused may be had a little later."""
    return bool(_PASSING.search(message)) and not _LASTING.search(message)
