"""Which judge of a file is meant? A module-level ``judge(…)``, by its variable or its own name."""

from __future__ import annotations

import sys
from pathlib import Path

from reeval.declare.loader import load_file
from reeval.declare.source.modules import module_name
from reeval.errors import UsageError, did_you_mean
from reeval.schema.spec import Judge

__all__ = ["find_judge"]


def find_judge(root: Path, path: str, name: str | None) -> Judge:
    """Return a judge of ``path`` (from ``root``, with ``/``); without ``name`` its only one.

    Judges that the file imports count as its own. Raises ``DeclarationError`` for a file that does not load,
    ``UsageError`` when it is not clear which judge is meant.
    """
    load_file(root, path)
    module = sys.modules[module_name(root.resolve(), path)]
    judges = {variable: value for variable, value in vars(module).items() if isinstance(value, Judge)}
    if not judges:
        raise UsageError(f"{path} has no judge at its top level; write NAME = judge(…) outside of functions")
    if name is None:
        return _only(list({id(judge): judge for judge in judges.values()}.values()), f"{path} has", path)
    if name in judges:
        return judges[name]
    named = {id(judge): judge for judge in judges.values() if judge.name == name}
    if not named:
        known = [*judges, *(judge.name for judge in judges.values())]
        raise UsageError(f"{path} has no judge {name!r}{did_you_mean(name, known)}")
    return _only(list(named.values()), f"{path} has, with the name {name!r},", path)


def _only(judges: list[Judge], where: str, path: str) -> Judge:
    if len(judges) > 1:
        names = ", ".join(sorted({judge.name for judge in judges}))
        raise UsageError(f"{where} {len(judges)} judges ({names}); add ::VARIABLE to {path}")
    return judges[0]
