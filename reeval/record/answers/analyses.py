"""Where is kept what a model made of a run? ``analysis/<n>.json`` in the run's directory: sent, answered, checked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from reeval.record.store import RunDirectory
from reeval.record.writer import writing
from reeval.secrets import Masker

__all__ = ["FOLDER", "keep_analysis"]

FOLDER = "analysis"


def keep_analysis(run: RunDirectory, data: Mapping[str, Any], masker: Masker) -> Path:
    """Write one more analysis of a run, every text masked; raise ``RecordError`` when the disk refuses.

    It is no part of the journal: whoever reads the record needs none of it.
    """
    content = msgspec.json.format(msgspec.json.encode(_masked(data, masker)), indent=2)
    folder = run.path / FOLDER
    with writing(folder):
        folder.mkdir(exist_ok=True)
        for number in count(1):
            path = folder / f"{number}.json"
            try:
                with path.open("xb") as file:
                    file.write(content + b"\n")
            except FileExistsError:
                continue
            return path
    raise AssertionError(folder)


def _masked(value: Any, masker: Masker) -> Any:
    """Mask the texts, not the JSON around them: a secret that is ``true`` must not break its form."""
    if isinstance(value, str):
        return masker.text(value).encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {str(key): _masked(one, masker) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(one, masker) for one in value]
    return value
