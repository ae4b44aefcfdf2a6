from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reeval.sandboxes.docker.kind import DockerSandboxKind
from tests.sandboxes.docker.registry import serving
from tests.sandboxes.docker.site import PYTHON, DockerSite, missing_engine, remove_images


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerSite]:
    """A place to open containers of the small image in; nothing of it is left."""
    yield from _site(tmp_path, monkeypatch)


@pytest.fixture
def docker_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerSite]:
    """Likewise, of the image with Python and git."""
    yield from _site(tmp_path, monkeypatch, PYTHON)


def _site(root: Path, monkeypatch: pytest.MonkeyPatch, *image: str) -> Iterator[DockerSite]:
    (root / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(root / "tmp"))
    kind = DockerSandboxKind()
    site = DockerSite(root, kind, *image)
    yield site
    try:
        left = [one["Names"] for one in site.containers() if "reeval.kept" not in one["Labels"]]
        site.clean()
        assert not left
    finally:
        kind.close()


@pytest.fixture(scope="session", autouse=True)
def _no_images_are_left() -> Iterator[None]:
    """What tests made stays until the last of them, as the first layers are the same for all of them."""
    yield
    if missing_engine() is None:
        remove_images()


@pytest.fixture
def registry(docker: DockerSite) -> Iterator[str]:
    """The address of a registry that has the small image as ``small:1``."""
    with serving(docker.engine) as address:
        yield address
