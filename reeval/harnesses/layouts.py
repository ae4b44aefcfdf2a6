"""Where do well-known agents read the rules and skills of a project? Measured against the programs themselves."""

from __future__ import annotations

from difflib import get_close_matches

from reeval.schema.environment import Layout

__all__ = ["LAYOUTS", "named_layout"]

LAYOUTS = {
    "claude-code": Layout(rules="CLAUDE.md", skills=".claude/skills"),
    "codex": Layout(rules="AGENTS.md", skills=".agents/skills"),
    "gemini": Layout(rules="GEMINI.md", skills=".gemini/skills"),
    "opencode": Layout(rules="AGENTS.md", skills=".opencode/skills"),
    "pi": Layout(rules="AGENTS.md", skills=".pi/skills"),
    "qwen": Layout(rules="QWEN.md", skills=".qwen/skills"),
}
"""Paths in the workspace, by kind of agent."""


def named_layout(name: str | None) -> Layout:
    """Return a layout by its agent's name, ``AGENTS.md`` and ``.agents/skills`` for None; raise ``ValueError``."""
    if name is None:
        return Layout()
    try:
        return LAYOUTS[name]
    except KeyError:
        near = get_close_matches(name, LAYOUTS, n=1)
        wanted = repr(near[0]) if near else f"one of {', '.join(sorted(LAYOUTS))}"
        raise ValueError(f"the layout of a known agent, {wanted}, not {name!r}") from None
