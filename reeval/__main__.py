"""How does ``python -m reeval`` start?"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from reeval.cli.app import app

    app()


if __name__ == "__main__":
    main()
