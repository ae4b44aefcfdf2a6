"""A place to open containers in, and what a test asks of the engine itself."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from contextlib import AbstractAsyncContextManager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reeval.errors import ReevalError
from reeval.protocols import Sandbox, SandboxRequest
from reeval.sandboxes.docker.engine.client import Engine, EngineError
from reeval.sandboxes.docker.kind import DockerSandboxKind
from reeval.sandboxes.docker.labels import filtered
from reeval.schema.environment import Egress, PreparedTree
from tests.sandboxes.site import AGENT

BUSYBOX = "reeval-test/busybox:1"
"""A shell and small programs, 2 MB."""
PYTHON = os.environ.get("REEVAL_TEST_IMAGE", "reeval-examples:1")
"""With python3 and git; made by .ci/image."""
IN_CI = bool(os.environ.get("REEVAL_CI_ENGINE"))
"""A missing engine is a failure there, not a reason to skip."""


def make_busybox(engine: Engine, tag: str = BUSYBOX) -> str | None:
    """Make the small image without a registry, unless it is there; say what is missing."""
    if engine.now(lambda client: client.images(name=tag)):
        return None
    program = shutil.which("busybox")
    if program is None:
        return "there is no busybox to make an image of: apt install busybox-static"
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        tar.add(os.path.realpath(program), "bin/busybox", filter=lambda entry: entry.replace(uid=0, gid=0, mode=0o755))
        for name in listed:
            if name != "busybox":
                entry = tarfile.TarInfo(f"bin/{name}")
                entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(entry)
        for path, text in (("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", "root:x:0:\n")):
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    name, _, version = tag.partition(":")
    changes = ["ENV PATH=/bin", 'CMD ["sh"]']
    engine.now(lambda client: client.import_image_from_data(data.getvalue(), name, version, changes=changes))
    return None


@cache
def missing_engine() -> str | None:
    """Say why containers cannot be tested here; None when they can."""
    kind = DockerSandboxKind()
    try:
        engine = kind.engine()
    except ReevalError as error:
        return str(error)
    try:
        return make_busybox(engine)
    finally:
        kind.close()


@cache
def missing_python() -> str | None:
    """Say why nothing that needs Python in a container can be tested here."""
    if reason := missing_engine():
        return reason
    kind = DockerSandboxKind()
    try:
        there = kind.engine().now(lambda client: client.images(name=PYTHON))
    finally:
        kind.close()
    return None if there else f"there is no image {PYTHON}: .ci/image makes it"


def _mark(reason: str | None) -> pytest.MarkDecorator:
    return pytest.mark.skipif(reason is not None and not IN_CI, reason=f"containers cannot be tested here: {reason}")


needs_engine = _mark(missing_engine())
needs_python = _mark(missing_python())


_roots: list[Path] = []


def remove_images() -> None:
    """Remove the images that were made for the projects of tests, those that stand on others first."""
    kind = DockerSandboxKind()
    engine = kind.engine()
    made = [one for root in _roots for one in engine.now(lambda client, it=root: client.images(filters=filtered(it)))]
    for one in sorted(made, key=lambda one: one["Created"], reverse=True):
        with suppress(EngineError):
            engine.now(lambda client, it=one["Id"]: client.remove_image(it, force=True))
    kind.close()


class DockerSite:
    """Opens containers for one project."""

    def __init__(self, root: Path, kind: DockerSandboxKind, image: str = BUSYBOX) -> None:
        self.root = root
        self.kind = kind
        self.image = image
        _roots.append(root)

    @property
    def engine(self) -> Engine:
        return self.kind.engine()

    def request(self, *, options: dict[str, Any] | None = None, **given: Any) -> SandboxRequest:
        options = options or {}
        image = {} if "dockerfile" in options else {"image": self.image}
        planned = self.kind.plan("docker", {**image, **options}, AGENT, self.root)
        return SandboxRequest(
            key="evals/a.eval.py::a@x/-/docker#1", run_id="run", sandbox=planned, root=self.root, **given
        )

    def open(
        self,
        *,
        tree: PreparedTree | None = None,
        egress: Egress | None = None,
        keep: bool = False,
        options: dict[str, Any] | None = None,
    ) -> AbstractAsyncContextManager[Sandbox]:
        return self.kind.open(self.request(tree=tree, egress=egress, keep=keep, options=options))

    def tree(self, files: dict[str, str], digest: str = "0") -> PreparedTree:
        """Write a prepared tree: ``workspace/…`` and ``home/…`` paths to text."""
        top = self.root / "prepared" / digest
        for name in ("workspace", "home"):
            (top / name).mkdir(parents=True)
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        return PreparedTree(digest=f"{self.root}{digest}", workspace=str(top / "workspace"), home=str(top / "home"))

    def containers(self) -> list[dict[str, Any]]:
        """What the engine has of this project now."""
        found: list[dict[str, Any]] = self.engine.now(
            lambda client: client.containers(all=True, filters=filtered(self.root))
        )
        return found

    def clean(self) -> None:
        """Remove the containers that were made for this project."""
        for one in self.containers():
            self.engine.now(lambda client, it=one["Id"]: client.remove_container(it, force=True, v=True))
