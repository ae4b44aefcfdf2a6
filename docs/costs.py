"""What does each dependency cost? ``python docs/costs.py`` prints its size, and the time and memory of importing it.

Sizes are those of the installed files, without compiled caches; compressed is about the size of the wheel. Each import
happens in a process of its own, the best of nine.
"""  # noqa: INP001 - a script beside the page that shows its figures

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, distributions

IMPORTS = {
    "agent-client-protocol": "from acp.connection import Connection",
    "anyio": "import anyio, anyio._backends._asyncio",
    "docker": "import docker",
    "duckdb": "import duckdb",
    "genai-prices": "import genai_prices.data_snapshot; genai_prices.data_snapshot.get_snapshot()",
    "httpcore2": "import httpcore2",
    "httpx2": "import httpx2",
    "jinja2": "import jinja2",
    "jsonschema": "import jsonschema",
    "markdown-it-py": "import markdown_it",
    "msgspec": "import msgspec",
    "numpy": "import numpy",
    "pathspec": "import pathspec",
    "pydantic": "from pydantic import TypeAdapter",
    "pydantic_core": "import pydantic_core",
    "python-dotenv": "import dotenv",
    "pyyaml": "import yaml",
    "rapidfuzz": "from rapidfuzz.distance import Levenshtein",
    "rich": "import rich.console, rich.live, rich.text",
    "scipy": "import scipy.special",
    "sqlglot": "import sqlglot",
    "typer": "import typer",
}
"""Distribution → the import that reeval makes of it."""
_MEASURE = """
import time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
before, began = resident(), time.perf_counter()
{code}
print((time.perf_counter() - began) * 1e3, (resident() - before) / 1e6)
"""


def main() -> None:
    """Print one line for each installed distribution; those that reeval imports come with time and memory."""
    sys.stdout.write(f"{'':28}{'disk MB':>9}{'wheel MB':>9}{'ms':>7}{'MB':>7}\n")
    for name in sorted({one.metadata["Name"] for one in distributions()}, key=str.lower):
        disk, wheel = sizes(name)
        code = IMPORTS.get(name.lower().replace("-core", "_core"))
        milliseconds, memory = importing(code) if code else (None, None)
        cost = f"{milliseconds:7.0f}{memory:7.1f}" if milliseconds is not None else ""
        sys.stdout.write(f"{name:28}{disk:9.1f}{wheel:9.1f}{cost}\n")


def sizes(name: str) -> tuple[float, float]:
    """Return the megabytes of a distribution on disk and compressed."""
    disk, packed = 0, io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in distribution(name).files or ():
            path = file.locate()
            if ".." in file.parts or "__pycache__" in file.parts or not path.is_file():  # type: ignore[attr-defined]
                continue
            data = file.read_binary()
            disk += len(data)
            archive.writestr(str(file), data)
    return disk / 1e6, len(packed.getvalue()) / 1e6


def importing(code: str) -> tuple[float, float]:
    """Return milliseconds and megabytes of an import."""
    command = [sys.executable, "-c", _MEASURE.format(code=code)]
    tries = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(9)]
    return min(float(one[0]) for one in tries), min(float(one[1]) for one in tries)


if __name__ == "__main__":
    main()
