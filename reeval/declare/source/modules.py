"""Which module is an eval file, and which files of the project does it import?

Every folder of a project is a package of its own under one root package: ``from .helpers import x`` works in an eval
file, and two folders may hold equal names. Nothing but the project's root is on ``sys.path``.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from reeval.declare.asserts import assert_failed, assert_passed
from reeval.declare.source.rewrite import FAILED, PASSED, compile_eval

__all__ = ["MODULE_PREFIX", "Imports", "import_eval", "module_name", "put_root_on_path"]

MODULE_PREFIX = "_reeval_"
_FOREIGN = {"site-packages", "dist-packages", "node_modules"}


class _EvalLoader(SourceFileLoader):
    """Loads one eval file, its asserts rewritten; never from a ``.pyc``, which would hold them as they were."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the base class's signature
        return compile_eval(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[PASSED] = assert_passed
        module.__dict__[FAILED] = assert_failed
        super().exec_module(module)


def import_eval(root: Path, path: str) -> ModuleType:
    """Import ``path`` afresh under its own name; whatever it raises comes out, and it is then not kept."""
    name = module_name(root, path)
    _package(root, Path(path).parent.parts)
    file = str(root / path)
    spec = spec_from_file_location(name, file, loader=_EvalLoader(name, file))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def module_name(root: Path, path: str) -> str:
    """Return the name of the module of an eval file: no ``import`` statement can spell its last part."""
    *folders, stem = Path(path).with_suffix("").parts
    return ".".join((_root_name(root), *map(_word, folders), f"{_word(stem)}@eval"))


def put_root_on_path(root: Path) -> None:
    """Let the project's modules be imported by their path from the root."""
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))


def _root_name(root: Path) -> str:
    return f"{MODULE_PREFIX}{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"


def _word(part: str) -> str:
    return part.replace("%", "%25").replace(".", "%2e")


def _package(root: Path, folders: Iterable[str]) -> None:
    name, directory = _root_name(root), root
    _open_package(name, directory, run=False)
    for folder in folders:
        name, directory = f"{name}.{_word(folder)}", directory / folder
        _open_package(name, directory, run=True)


def _open_package(name: str, directory: Path, *, run: bool) -> None:
    if name in sys.modules:
        return
    init = directory / "__init__.py"
    if run and init.is_file():
        spec = spec_from_file_location(name, init, submodule_search_locations=[str(directory)])
    else:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(directory)]
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    if spec.loader is not None:
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise


class Imports:
    """The files of one project that import statements lead to."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found: dict[str, Path | None] = {}

    def files(self, nodes: Iterable[ast.AST], package: str) -> Iterator[tuple[str, Path]]:
        """Yield name and file of every project module that is imported anywhere in ``nodes``."""
        for node in nodes:
            for name in _imported(node, package):
                file = self._file(name)
                if file is not None:
                    yield name, file

    def of_code(self, filename: str) -> list[tuple[str, Path]]:
        """Return name and file of the loaded project module that code was compiled from."""
        return [
            (name, file)
            for name, module in list(sys.modules.items())
            if getattr(module, "__file__", None) == filename and (file := self._own(Path(filename))) is not None
        ]

    def _file(self, name: str) -> Path | None:
        if name not in self._found:
            self._found[name] = self._locate(name)
        return self._found[name]

    def _locate(self, name: str) -> Path | None:
        loaded = sys.modules.get(name)
        if loaded is not None:
            file = getattr(loaded, "__file__", None)
            return self._own(Path(file)) if file else None
        # Not imported yet, perhaps inside a body: look where the import system will.
        parent, _, leaf = name.rpartition(".")
        for folder in self._folders(parent):
            for file in (folder / leaf / "__init__.py", folder / f"{leaf}.py"):
                if file.is_file():
                    return self._own(file)
        return None

    def _folders(self, package: str) -> list[Path]:
        if not package:
            return [self._root]
        loaded = sys.modules.get(package)
        if loaded is not None:
            return [Path(path) for path in getattr(loaded, "__path__", ())]
        parent, _, leaf = package.rpartition(".")
        return [folder / leaf for folder in self._folders(parent) if (folder / leaf).is_dir()]

    def _own(self, file: Path) -> Path | None:
        if not file.is_relative_to(self._root) or file.suffix != ".py":
            return None
        installed = Path(sys.prefix).is_relative_to(self._root) and file.is_relative_to(sys.prefix)
        return None if installed or _FOREIGN & set(file.relative_to(self._root).parts) else file


def _imported(node: ast.AST, package: str) -> Iterator[str]:
    """Yield every module that one import statement may run, packages on the way included."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _with_parents(alias.name)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join((*above, base) if base else above)
        yield from _with_parents(base)
        for alias in node.names:
            yield f"{base}.{alias.name}"


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])
