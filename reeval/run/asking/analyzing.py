"""What is a model sent about a whole run, to say what stands out in it? A digest as data, and some attempts in full."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reeval.backends import ModelRequest
from reeval.grade.analysis.checking import MOST_CLAIMS
from reeval.grade.analysis.claims import Cited, RunName, claims_schema
from reeval.grade.analysis.digest import Part
from reeval.run.asking.material import Evidence, Section, clipped, sections
from reeval.run.asking.wording import DATA_RULE, prompt
from reeval.schema.options import StateOptions
from reeval.schema.record import AttemptRecord, FileRef
from reeval.secrets import Masker

__all__ = ["Sample", "analysis_request"]

SAMPLE_LIMIT = 7000
"""Characters of one attempt; its transcript and its log each have a share."""
_LOG_LIMIT = 1000
_DIFF_LIMIT = 1500
MOST_TOKENS = 16_000
"""Of an answer, its reasoning included."""
_STATE: StateOptions = {"turns": "all", "transcript": True}


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that is shown; its parts are read back, and masked: it is cut here."""

    of: Cited
    record: AttemptRecord


def analysis_request(
    parts: Sequence[Part], samples: Sequence[Sample], masker: Masker, *, two_runs: bool = False
) -> ModelRequest:
    """Return the request: bounded, the record between tags that it cannot forge.

    Parts and samples are masked already, since they hold texts that were cut; the masker is for what they are made of.
    """
    material = [*(Section(part.title, part.text) for part in parts), *map(_section, samples)]
    return ModelRequest(
        system=_SYSTEM + (_TWO_RUNS if two_runs else _ONE_RUN) + DATA_RULE,
        prompt=prompt(material, masker),
        schema=claims_schema(two_runs=two_runs),
        max_tokens=MOST_TOKENS,
    )


def _section(sample: Sample) -> Section:
    record = sample.record
    run = "" if sample.of.run is RunName.THIS else f" of the run '{sample.of.run}'"
    why = record.failure.said if record.failure else record.skip_reason
    checks = [] if isinstance(record.checks, FileRef) else record.checks
    turns = () if isinstance(record.turns, FileRef) else tuple(record.turns)
    diff, log = ("" if isinstance(part, FileRef) else part for part in (record.diff, record.log))
    lines = [
        f"eval: {record.eval}",
        f"attempt: {record.attempt}",
        f"outcome: {record.outcome.value}" + (f", score {record.score:g}" if record.score is not None else ""),
        *([f"reason: {clipped(why, _LOG_LIMIT)}"] if why else []),
        *(f"check {check.label}: {check.status.value}. {clipped(check.message, 400)}" for check in checks[:40]),
        *(one.text for one in sections(Evidence(turns=turns), _STATE) if turns),
    ]
    for title, text, limit in (("diff", diff, _DIFF_LIMIT), ("log", log, _LOG_LIMIT)):
        if text.strip():
            lines.append(f"{title}:\n{clipped(text, limit)}")
    return Section(f"Attempt {record.eval}@{record.attempt}{run}", clipped("\n".join(lines), SAMPLE_LIMIT))


_SYSTEM = f"""\
You read the record of a run of evals of coding agents, and tell the developer what stands out in it.

The material has the figures of the run, each with an id such as n12, and the transcripts of some attempts. Look for
what explains several results at once: what failing attempts have in common and passing ones do not, an eval that
tests something else than it says, a check that is too strict or too loose, a judge that disagrees with the checks, an
error that keeps coming back, a lift that comes from one eval alone. Leave out what the figures already say by
themselves.

Answer with claims, the most important first, {MOST_CLAIMS} at most; fewer and better ones are worth more, and none is
an honest answer when nothing stands out. Each has a kind:
- pattern: something that several attempts have in common
- regression: something that got worse since the other run
- eval problem: the eval, a check or a judge is at fault, not the agent
- suggestion: what to change next, and why

Every claim is checked against the record by a program, and dropped when one thing in it does not hold:
- records: the attempts that it rests on, one at least, by the ids of their eval and attempt exactly as shown.
- numbers: figures of the material by their ids, with their values as shown; they may be rounded to two digits after
  the point. Do not calculate: a sum, a ratio or a difference that has no id cannot be used.
- quotes: words copied letter by letter from the record of one attempt, without anything left out.
- A claim needs one number or one quote at least.
- In its text, write numbers as digits. Each of them is the value of one of its numbers, as it is or in percent, or
  stands in one of its quotes; the ids of figures do not belong there. Put only words of its quotes between quotation
  marks.

A few attempts prove little: say how many there are, and do not call a difference more than it is.

"""
_ONE_RUN = """\
There is one run, so that nothing can be a regression.

"""
_TWO_RUNS = """\
There are two runs: "this", which it is about, and "vs", to which it is compared. An attempt names its run. Only evals
whose task is the same in both can be compared: the material says which are not. A difference has a figure of its own.

"""
