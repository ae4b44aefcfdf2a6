"""What does the workspace of a container hold now? As in any sandbox, but asked of the container.

A listing tells which files are new or touched since the last look; only those are fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio

from reeval.sandboxes.changes.contents import Content, content_of_data, opaque
from reeval.sandboxes.changes.ignores import GITIGNORE, MOST_BYTES, Rules
from reeval.sandboxes.changes.objects import ObjectStore
from reeval.sandboxes.changes.snapshot import DEPTH, OPAQUE, Entry, TreeSnapshot
from reeval.sandboxes.docker.images.prepared import PreparedImage
from reeval.sandboxes.docker.inside.channel import Channel
from reeval.sandboxes.docker.inside.listing import Found, contents, listed

__all__ = ["Watcher"]


class Watcher:
    """Takes the snapshots of one workspace."""

    def __init__(self, channel: Channel, workspace: str, image: PreparedImage, store: ObjectStore) -> None:
        self._channel = channel
        self._workspace = workspace
        self._image = image
        self._store = store
        self._last: TreeSnapshot | None = None
        self._ignores: dict[str, tuple[bytes, bytes]] = {}
        """Path of a ``.gitignore`` → its signature and its text."""
        self._lock = anyio.Lock()

    async def look(self) -> None:
        """Take in what was placed, before anything runs: the same for every container of the image."""
        if self._image.baseline is None and self._image.tree is not None:
            files = {}
            for one in await listed(self._channel, self._workspace):
                # Nothing runs yet, so nothing was touched at the moment of this look.
                entry = _entry(one._replace(racy=False), None if one.mode else opaque(one.signature))
                files[entry.path] = entry
            self._image.baseline = TreeSnapshot(files)
        self._last = self._image.baseline

    async def snapshot(self, *, untouched: bool) -> TreeSnapshot:
        """Look at the workspace; return the last snapshot itself when it is still the truth.

        ``untouched``: nothing ran and nothing was written yet.
        """
        async with self._lock:
            if untouched and self._last is not None:
                return self._last
            found = await listed(self._channel, self._workspace)
            last = self._last.files if self._last else {}
            await self._read_ignores(found, last)
            seen = list(_Filter(last, self._ignored_texts()).seen(found))
            files = await self._entries(seen, last)
            if (
                self._last is None
                or len(files) != len(last)
                or any(last.get(path) is not one for path, one in files.items())
            ):
                self._last = TreeSnapshot(files)
            return self._last

    async def _entries(self, seen: list[Found], last: Mapping[str, Entry]) -> dict[str, Entry]:
        kept = {one.path: last[_key(one)] for one in seen if _unchanged(one, last.get(_key(one)))}
        new = [one for one in seen if one.path not in kept]
        data = await contents(self._channel, self._workspace, [one for one in new if one.mode])
        files = {}
        for one in seen:
            known = kept.get(one.path)
            if known is None:
                held = data.get(one.path) if one.mode else None
                content = opaque(one.signature) if held is None else content_of_data(held, self._store)
                known = _same_or(last.get(_key(one)), _entry(one, content))
            files[known.path] = known
        return files

    async def _read_ignores(self, found: list[Found], last: Mapping[str, Entry]) -> None:
        """Fetch the ``.gitignore`` files that are new or touched; what the prepared tree holds is known here."""
        new = []
        for one in found:
            if one.path.rpartition("/")[2] != GITIGNORE or one.mode is None:
                continue
            known = self._ignores.get(one.path)
            if known is not None and known[0] == one.signature and not one.racy:
                continue
            entry, tree = last.get(one.path), self._image.tree
            if _unchanged(one, entry) and entry is not None and entry.content is None and tree is not None:
                self._ignores[one.path] = one.signature, _head(tree / one.path)
            else:
                new.append(one)
        data = await contents(self._channel, self._workspace, [one for one in new if one.size <= MOST_BYTES])
        for one in new:
            self._ignores[one.path] = one.signature, data.get(one.path, b"")
        here = {one.path for one in found}
        self._ignores = {path: text for path, text in self._ignores.items() if path in here}

    def _ignored_texts(self) -> dict[str, bytes]:
        return {path.removesuffix(GITIGNORE): text for path, (_, text) in self._ignores.items()}


class _Filter:
    """Decides which files are seen, as the walk of a local workspace does."""

    def __init__(self, last: Mapping[str, Entry], ignores: Mapping[str, bytes]) -> None:
        self._last = last
        self._ignores = ignores
        """Directory, ``""`` or ending in a slash → the text of its ``.gitignore``."""
        self._directories: dict[str, tuple[Rules, bool]] = {}

    def seen(self, found: list[Found]) -> list[Found]:
        return [one for one in found if self._is_seen(one)]

    def _is_seen(self, one: Found) -> bool:
        if _key(one) in self._last:
            return True
        above, _, name = one.path.rpartition("/")
        rules, known_only = self._directory(f"{above}/" if above else "")
        if one.path.count("/") > DEPTH:
            return False
        if one.mode is None:
            return not known_only and not rules.ignored(one.path, directory=True)
        if name == GITIGNORE:
            return True
        return not known_only and not rules.ignored(one.path, directory=False)

    def _directory(self, prefix: str) -> tuple[Rules, bool]:
        """Return the rules in a directory, and whether only what was seen before is seen in it."""
        if prefix not in self._directories:
            if prefix:
                above, _, _ = prefix[:-1].rpartition("/")
                rules, known_only = self._directory(f"{above}/" if above else "")
                known_only = known_only or rules.ignored(prefix[:-1], directory=True)
            else:
                rules, known_only = Rules(), False
            text = self._ignores.get(prefix)
            self._directories[prefix] = (rules if text is None else rules.below(prefix, text)), known_only
        return self._directories[prefix]


def _key(one: Found) -> str:
    return one.path if one.mode else f"{one.path}/"


def _entry(one: Found, content: Content | None) -> Entry:
    # What was touched at the very moment of this look is fetched again by the next one.
    return Entry(_key(one), one.mode or OPAQUE, one.signature, content, one.racy)


def _unchanged(one: Found, last: Entry | None) -> bool:
    return last is not None and last.signature == one.signature and not last.racy


def _same_or(last: Entry | None, new: Entry) -> Entry:
    """Return the last entry where nothing but the look differs, so that a snapshot can be known to be the same."""
    return last if last is not None and last == new else new


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError:
        return b""
