from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from reeval.declare.loader import load_file
from reeval.errors import DeclarationError
from reeval.schema.spec import EvalSpec, FileSpec, GroupSpec


class Project:
    """A project on disk whose eval files are loaded."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, text: str) -> str:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return path

    def load(self, text: str, path: str = "evals/x.eval.py") -> FileSpec:
        return load_file(self.root, self.write(path, text))

    def evals(self, text: str) -> dict[str, EvalSpec]:
        """The evals of a file by name, groups opened."""
        found: dict[str, EvalSpec] = {}
        waiting = list(self.load(text).children)
        while waiting:
            child = waiting.pop()
            if isinstance(child, GroupSpec):
                waiting += child.children
            elif isinstance(child, EvalSpec):
                found[child.name] = child
        return found

    def one(self, text: str) -> EvalSpec:
        (found,) = self.evals(text).values()
        return found

    def refusal(self, text: str) -> str:
        with pytest.raises(DeclarationError) as caught:
            self.load(text)
        return str(caught.value)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.delenv("CI", raising=False)
    return Project(tmp_path)


@pytest.fixture
def task(project: Project) -> Callable[..., str]:
    """Write and load a file in a project of its own name space, and return the task of the eval ``name``."""

    def digest(text: str, name: str = "a") -> str:
        return project.evals(text)[name].task

    return digest
