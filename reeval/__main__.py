"""How does ``python -m reeval`` start?"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from reeval.cli.app import app
    from reeval.cli.argv import with_default_runs

    app(with_default_runs(sys.argv[1:]))


if __name__ == "__main__":
    main()
