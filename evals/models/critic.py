"""Critic: a stand-in for a language model that judges, so that the example runs offline.

It gets what a model would get, and answers what a model would answer: a reason, then a score.
"""

from __future__ import annotations

import re
from typing import Any


def judge(request: Any) -> dict[str, object]:
    """Judge a greeter by its diff: does it treat a missing name, and does it say why it is as it is?"""
    added = re.findall(r"^\+(?!\+\+)(.*)$", request.prompt, re.MULTILINE)
    code = "\n".join(added)
    if not code.strip():
        return {"reason": "The diff adds nothing.", "score": 0.0}
    if re.search(r"len\(sys\.argv\)|argv\[1:\]|IndexError", code):
        return {"reason": "It greets by name and has an answer to a missing name.", "score": 1.0}
    return {"reason": "It greets by name; without a name it breaks off with a traceback.", "score": 0.6}
