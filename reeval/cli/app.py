"""Which commands are there?"""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(name="reeval", rich_markup_mode=None, no_args_is_help=True, add_completion=False)


@app.callback()
def root() -> None:
    """Evals of coding agents and data agents: did the agent get better or worse, and can I tell?"""
