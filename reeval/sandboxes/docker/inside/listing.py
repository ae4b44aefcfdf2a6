"""What files does a workspace in a container hold, and what is in them? Asked of the container's own programs."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.changes.contents import MOST_HASHED
from reeval.sandboxes.changes.ignores import NEVER_SEEN
from reeval.sandboxes.changes.objects import EXECUTABLE, FILE, LINK
from reeval.sandboxes.docker.inside.channel import Channel, quoted

__all__ = ["Found", "contents", "listed"]

RACY = 2
"""Seconds around a look in which a later write could leave size and times as they were: some images' ``stat`` knows
whole seconds only."""
MOST_LISTED = 64 * 1024 * 1024
"""Bytes of a listing; of what is listed after that nothing is seen."""
MOST_NAMES = 64 * 1024
"""Bytes of the names that are asked for at once: the shell reads them one by one."""
MOST_AT_ONCE = 32 * 1024 * 1024
"""Bytes of content that are fetched at once."""
MOST_FETCHED = 512 * 1024 * 1024
"""Bytes of content that one look fetches; of what changed after that only the fact is known."""


class Found(NamedTuple):
    """One path as it is now."""

    path: str
    mode: str | None
    """Git's; None: a directory that cannot be looked into."""
    size: int
    signature: bytes
    """Equal signatures are equal contents, unless ``racy``."""
    racy: bool


async def listed(channel: Channel, workspace: str) -> list[Found]:
    """Return every file and link below the workspace, apart from what is never seen; ``InfrastructureError``."""
    word = Channel.word()
    never = " -o ".join(f"-name {quoted(name)}" for name in sorted(NEVER_SEEN - {".git"}))
    kinds = "-type f -o -type l -o -type d ! -perm -500"
    look = f"stat -c {word}%f_%s_%Z_%y_%z_%i_%n"
    script = (
        f"date +%s; cd {quoted(workspace)} && find . -name .git -prune -o "
        f"-type d \\( {never} -o -name '*.egg-info' \\) -prune -o \\( {kinds} \\) -exec {look} {{}} + "
        f"2>/dev/null | head -c {MOST_LISTED}"
    )
    answer = await channel.ask(script)
    now, _, lines = answer.output.partition(b"\n")
    if not now.isdigit():
        _missing(answer.output, "date, find, stat and head")
    return list(_parsed(lines, word.encode(), int(now)))


async def contents(channel: Channel, workspace: str, wanted: Sequence[Found]) -> dict[str, bytes]:
    """Return what files and links hold, by path; those that are too big, gone or not readable are left out."""
    found: dict[str, bytes] = {}
    for batch in _batches(one for one in wanted if one.size <= MOST_HASHED):
        names = " ".join(quoted(f"./{one.path}") for one in batch)
        answer = await channel.ask(f"cd {quoted(workspace)} && tar -cf - -- {names} 2>/dev/null")
        if answer.code == 127:
            _missing(b"", "tar")
        found.update(_unpacked(answer.output))
    return found


def _parsed(lines: bytes, word: bytes, now: int) -> Iterator[Found]:
    for line in lines.split(word)[1:]:
        with suppress(ValueError):  # Cut off at the limit.
            mode, size, changed, modified, change, inode, name = line.removesuffix(b"\n").split(b"_", 6)
            bits = int(mode, 16)
            path = os.fsdecode(name.removeprefix(b"./"))
            signature = b"_".join((mode, size, modified, change, inode))
            if name != b".":
                yield Found(path, _git_mode(bits), int(size), signature, racy=int(changed) >= now - RACY)


def _git_mode(bits: int) -> str | None:
    if stat.S_ISLNK(bits):
        return LINK
    if stat.S_ISDIR(bits):
        return None
    return EXECUTABLE if bits & stat.S_IXUSR else FILE


def _batches(wanted: Iterable[Found]) -> Iterator[list[Found]]:
    batch: list[Found] = []
    names = size = total = 0
    for one in wanted:
        total += one.size
        if total > MOST_FETCHED:
            break
        if batch and (names > MOST_NAMES or size + one.size > MOST_AT_ONCE):
            yield batch
            batch, names, size = [], 0, 0
        batch.append(one)
        names += 4 * len(one.path) + 20
        size += one.size
    if batch:
        yield batch


def _unpacked(archive: bytes) -> Iterator[tuple[str, bytes]]:
    known: dict[str, bytes] = {}
    # What the agent's files are called and hold is read here and never written anywhere.
    with suppress(tarfile.TarError), tarfile.open(fileobj=io.BytesIO(archive), errors="surrogateescape") as tar:
        for entry in tar:
            if entry.issym():
                known[entry.name] = os.fsencode(entry.linkname)
            elif entry.islnk():
                known[entry.name] = known.get(entry.linkname, b"")
            elif entry.isreg() and (file := tar.extractfile(entry)) is not None:
                known[entry.name] = file.read(MOST_HASHED + 1)
            else:
                continue
            yield entry.name.removeprefix("./"), known[entry.name]


def _missing(said: bytes, programs: str) -> None:
    text = said.decode("utf-8", "replace").strip()[:200]
    reason = f"what the agent changed cannot be seen: the image needs {programs}"
    raise InfrastructureError(Phase.SANDBOX, reason, detail=text)
