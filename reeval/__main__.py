"""How does ``python -m reeval`` start?"""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["main"]

_COLLECT = (60_000, 20, 50)
"""How many new objects make Python look for cycles: with its own 700 that costs a tenth of a start."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(*_COLLECT)
    from reeval.cli.app import app
    from reeval.cli.argv import as_meant

    _open_closed_streams()
    try:
        app(as_meant(sys.argv[1:]))
    finally:
        gc.freeze()  # the process ends: looking for cycles in all that was loaded takes a tenth of a short run


def _open_closed_streams() -> None:
    """Open what the shell closed (``reeval run >&-``): else the first file that is opened would be standard output."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            fd = os.open(os.devnull, os.O_RDWR)
            if fd != number:
                os.dup2(fd, number)
                os.close(fd)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


if __name__ == "__main__":
    main()
