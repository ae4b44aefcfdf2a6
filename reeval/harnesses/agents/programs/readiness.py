"""Is an agent's program ready on this machine? For ``reeval doctor``; nothing is started or installed."""

from __future__ import annotations

import shutil
from pathlib import Path

from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.programs.install import installed, place_of
from reeval.harnesses.agents.programs.package import Package
from reeval.protocols import Readiness

__all__ = ["readiness"]

_INSTALL = "write install = true in its table, to have {name} installed once and seen by every sandbox"


def readiness(package: Package, options: AgentOptions) -> Readiness:
    """Say where the program is, or what keeps it from being there."""
    mend = _INSTALL.format(name=package.name)
    if not options.install:
        return _there(options.program or package.program, mend)
    version = options.version or package.version
    if installed(package, version):
        return Readiness(ready=True, text=f"{package.name} {version} in {place_of(package, version)}")
    if package.source == "npm" and shutil.which("npm") is None:
        text = f"{package.name} {version} is not installed, and there is no npm here to do it"
        return Readiness(ready=False, text=text, mend="install Node.js, which brings npm")
    return Readiness(ready=True, text=f"{package.name} {version} will be installed by the first run")


def _there(program: str, mend: str) -> Readiness:
    found = shutil.which(program)
    if found is None:
        text = f"no program {program!r} on this machine; a container's image may have one"
        return Readiness(ready=False, text=text, mend=mend)
    if not Path(found).resolve().is_relative_to("/usr"):
        text = f"{found} leads to {Path(found).resolve()}, which a local sandbox does not see"
        return Readiness(ready=False, text=text, mend=f"{mend}; or name its directory in read_only of [sandbox.local]")
    return Readiness(ready=True, text=found)
