"""Which files of a folder are tables, and what are they called?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reeval.backends import QueryError

__all__ = ["TableFile", "tables_of"]

_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_ENDINGS = (*_CSV, ".parquet")


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """One file that is a table."""

    name: str
    path: Path
    size: int
    is_csv: bool


def tables_of(folder: Path) -> list[TableFile]:
    """Return the tables of a folder by name; raise ``QueryError`` when there are none, or two of one name."""
    found: dict[str, TableFile] = {}
    for path in sorted(folder.iterdir()):
        ending = next((one for one in _ENDINGS if path.name.lower().endswith(one)), None)
        if ending is None or not path.is_file() or path.name.startswith("."):
            continue
        name = path.name[: -len(ending)]
        if name.lower() in found:
            other = found[name.lower()].path.name
            raise QueryError(f"{other!r} and {path.name!r} in {str(folder)!r} are both the table {name!r}; rename one")
        file = TableFile(name=name, path=path.resolve(), size=path.stat().st_size, is_csv=ending in _CSV)
        found[name.lower()] = file
    if not found:
        raise QueryError(f"the folder {str(folder)!r} holds no table: no file ends with {', '.join(_ENDINGS)}")
    return list(found.values())
