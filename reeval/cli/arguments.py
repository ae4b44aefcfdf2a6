"""Which arguments do several commands share?"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

__all__ = ["Kind", "Paths", "Profile"]

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH[::NAME]...", help="Files, folders, or one group or eval in a file."),
]
Kind = Annotated[
    Literal["pass-fail", "scored"] | None, typer.Option("--kind", help="Which kind, where both are selected.")
]
Profile = Annotated[str | None, typer.Option("--profile", metavar="NAME", help="A [profile.NAME] of the config.")]
