"""What has to be installed, so that an agent's program is there?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Package"]


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package of npm or PyPI."""

    source: Literal["npm", "pip"]
    name: str
    """``@openai/codex``"""
    version: str
    """The one that the adapter was made and is tested with; another one can be asked for."""
    program: str
    """What it is called on the ``PATH``."""
    entry: str
    """What to start, below the directory of the installation, which npm gives a ``node_modules`` and pip a ``venv``.

    A pattern such as ``node_modules/@openai/codex-*/vendor/*/bin/codex``, of which one file is there. A program that
    needs no Node should be named itself and not what starts it, so that it runs where there is no Node.
    """
    node: str | None = None
    """npm: the version of Node (package ``node``) to install beside it and to start it with; None: it needs none, or
    the sandbox's own will do."""
    version_args: tuple[str, ...] = ("--version",)
    """What makes it print its version; the first word that starts with a digit is taken."""
