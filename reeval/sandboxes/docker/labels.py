"""How is what a run makes in an engine marked? What a killed run left is found by it, a live one's never touched."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeval.sandboxes.docker.engine.client import Engine, EngineError
from reeval.sandboxes.owner import is_dead, this_process

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["attempt_labels", "filtered", "leftovers", "project_labels", "remove_leftovers", "run_labels"]

PROJECT, RUN, ATTEMPT = "reeval.project", "reeval.run", "reeval.attempt"
HOST, PID, STARTED, KEPT = "reeval.host", "reeval.pid", "reeval.started", "reeval.kept"


def project_labels(root: Path) -> dict[str, str]:
    """Return the label of everything that belongs to a project: a digest, as its path is nobody else's business."""
    return {PROJECT: hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]}


def run_labels(root: Path, run_id: str) -> dict[str, str]:
    """Return the labels of what a run of this process has once for all attempts."""
    owner = this_process()
    return {
        **project_labels(root),
        RUN: run_id,
        HOST: str(owner["host"]),
        PID: str(owner["pid"]),
        STARTED: str(owner["started"]),
    }


def attempt_labels(root: Path, run_id: str, key: str, *, keep: bool = False) -> dict[str, str]:
    """Return the labels of what belongs to one attempt of this process."""
    labels = {**run_labels(root, run_id), ATTEMPT: key}
    return {**labels, KEPT: "true"} if keep else labels


def filtered(root: Path) -> dict[str, Any]:
    """Return the engine's filter for what belongs to a project."""
    return {"label": [f"{name}={value}" for name, value in project_labels(root).items()]}


async def leftovers(engine: Engine, root: Path) -> list[tuple[str, str]]:
    """Return what dead processes of this machine left: ``container``, ``network`` or ``volume``, and its name."""
    return await engine.call(lambda client: list(_dead(client, root)))


async def remove_leftovers(engine: Engine, root: Path) -> list[str]:
    """Remove it, and return what is gone; what cannot be removed is found again by the next run."""
    removed = []
    for kind, name in await leftovers(engine, root):
        with suppress(EngineError):
            await engine.call(lambda client, kind=kind, name=name: _REMOVE[kind](client, name))  # type: ignore[misc]
            removed.append(f"{kind} {name}")
    return removed


def _dead(client: APIClient, root: Path) -> Iterator[tuple[str, str]]:
    """Containers first: a network that one of them uses cannot be removed."""
    filters = filtered(root)
    found: Sequence[tuple[str, Sequence[Mapping[str, Any]], Callable[[Mapping[str, Any]], str]]] = (
        ("container", client.containers(all=True, filters=filters), lambda one: str(one["Names"][0]).lstrip("/")),
        ("network", client.networks(filters=filters), lambda one: str(one["Name"])),
        ("volume", client.volumes(filters=filters)["Volumes"] or (), lambda one: str(one["Name"])),
    )
    for kind, ones, name in found:
        for one in ones:
            labels = one.get("Labels") or {}
            if KEPT not in labels and is_dead(_owner(labels)):
                yield kind, name(one)


def _owner(labels: Mapping[str, str]) -> dict[str, object]:
    return {"host": labels.get(HOST), "pid": _number(labels.get(PID)), "started": _number(labels.get(STARTED))}


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


_REMOVE: Mapping[str, Callable[[Any, str], object]] = {
    "container": lambda client, name: client.remove_container(name, force=True, v=True),
    "network": lambda client, name: client.remove_network(name),
    "volume": lambda client, name: client.remove_volume(name, force=True),
}
