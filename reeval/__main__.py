"""How does ``python -m reeval`` start?"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from reeval.cli.app import app
    from reeval.cli.argv import as_meant

    app(as_meant(sys.argv[1:]))


if __name__ == "__main__":
    main()
