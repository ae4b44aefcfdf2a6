"""Can git be asked for what a source declares, and is nothing dangerous asked of it?"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["git_missing", "source_problem"]

_SCHEMES = ("https", "http", "ssh", "git", "file")
_BAD_REF = re.compile(r"[\x00-\x20~^:?*\[\\\x7f]|\.\.|@\{|//|^[-/.]|[/.]$|\.lock$")


def git_missing() -> str | None:
    """Say that git is not installed, where something needs it."""
    if shutil.which("git") is None:
        return "needs git, which is not installed; install it (Debian, Ubuntu: apt install git)"
    return None


def source_problem(url: str, ref: str | None, path: str | None, root: Path) -> str | None:
    """Say what is wrong with a git source before anyone asks for it; None when nothing is."""
    if problem := _url_problem(url, root):
        # A password must not be on the screen of a build either.
        shown = re.sub(r"^([a-z+]+://)[^/]*@", r"\1…@", url, flags=re.IGNORECASE)
        return f"the git source {shown!r} {problem}"
    if ref is not None and (not ref or _BAD_REF.search(ref)):
        return f"the git source {url!r} has ref {ref!r}; write a branch, a tag, or a commit with all of its digits"
    parts = (path or "").split("/")
    if path is not None and (path.startswith("/") or ".." in parts or "\0" in path):
        return f"the git source {url!r} has path {path!r}; write a folder from the source's top, such as 'skills'"
    return None


def _url_problem(url: str, root: Path) -> str | None:
    head, colon, rest = url.partition(":")
    if not url or url.startswith("-") or re.search(r"[\x00-\x1f\x7f]", url):
        return "is no URL; write https://…, ssh://…, file://… or a path from the project's root"
    if colon and rest.startswith(":"):
        return f"names a helper ({head}::), which can run any program; write https://…, ssh://…, file://… or a path"
    if colon and rest.startswith("//"):
        return _of_scheme(url, head.lower())
    if colon and "/" not in head:  # user@host:path, as ssh writes it
        return "names no host" if not head or head.rpartition("@")[2].startswith("-") else None
    return None if (root / url).exists() else f"is a path where nothing is; paths start at {root}"


def _of_scheme(url: str, scheme: str) -> str | None:
    if scheme not in _SCHEMES:
        return f"has the scheme {scheme!r}; it can be {', '.join(_SCHEMES)}"
    try:
        address = urlsplit(url)
    except ValueError as error:
        return f"cannot be read: {error}"
    if scheme == "file":
        return None if Path(unquote(address.path)).exists() else "is a file:// URL where nothing is"
    if not address.hostname or address.hostname.startswith("-"):
        return "names no host"
    if address.password is not None or (address.username and scheme in {"http", "https"}):
        # It would be in every record; what masks secrets knows only those of the environment.
        return "holds a user or a password; leave it out of the URL, and let a credential helper or an ssh key give it"
    return None
