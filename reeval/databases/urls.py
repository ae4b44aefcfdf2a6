"""Which database does a URL mean? Its kind, and where its file is; a password in it is never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from reeval.databases.kinds import KINDS
from reeval.errors import ConfigError, did_you_mean
from reeval.schema.data.questions import PlannedDatabase

__all__ = ["database_secrets", "expanded", "masked_url", "plan_database"]

_SCHEMES = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "postgresql": "postgres",
    "sqlite": "sqlite",
    "sqlite3": "sqlite",
}
"""Scheme → kind."""
_FILES = ("duckdb", "sqlite")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PASSWORD = re.compile(r"(?P<before>://[^/?#@:]*:)(?P<secret>[^?#]*(?=@)|[^/@]*(?=@))")
"""The last ``@`` ends it: people write passwords with that, or a slash, in them; or with a ``?`` or ``#``, which
libpq takes for a part of it too."""
_SECRET_OPTION = re.compile(r"((?:ssl)?password=)([^&#]*)", re.IGNORECASE)
_NO_URL = "it is no URL; write 'postgres://user@host:5432/name', in a password %23, %2F and %3F for '#', '/' and '?'"
_LIKELY = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite"}


def plan_database(
    url: str,
    root: Path,
    environ: Mapping[str, str],
    *,
    place: str = "[data]",
    options: Mapping[str, Any] | None = None,
) -> PlannedDatabase:
    """Resolve the URL of a config that stands at ``place``; raise ``ConfigError`` with the next step.

    ``options`` are further fields of ``PlannedDatabase``. ``${NAME}`` in the URL stands for a variable; it stays as it
    is in a URL of ``postgres``, so that no plan holds a password.
    """
    known = f"{place}: database {masked_url(url)!r}"
    full = expanded(url, environ, known)
    scheme = _SCHEME.match(full)
    kind = _SCHEMES.get(scheme[1].lower()) if scheme else None
    if kind is None:
        raise ConfigError(f"{known}: {_no_kind(full, scheme and scheme[1])}")
    if kind in _FILES:
        path = _found(full[len(scheme[0]) :] if scheme else full, root)
        if path is None:
            raise ConfigError(f"{known}: there is no such file or directory; paths start at {str(root)!r}")
        url = f"{kind}:{path}"
    else:
        _check_server(full, known)
    return PlannedDatabase(kind=kind, url=url, **(options or {}))


def expanded(url: str, environ: Mapping[str, str], place: str) -> str:
    """Return the URL with its variables filled in; raise ``ConfigError`` when one is not set."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise ConfigError(f"{place}: the variable {found[1]} is not set; set it (also in .env)")
        return environ[found[1]]

    return _VARIABLE.sub(value, url)


def masked_url(url: str) -> str:
    """Return the URL without passwords."""
    return _SECRET_OPTION.sub(r"\1***", _PASSWORD.sub(_shown, url))


def database_secrets(planned: PlannedDatabase, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the passwords that must be masked in everything written about the database."""
    if planned.kind in _FILES:
        return ()
    url = _VARIABLE.sub(lambda found: environ.get(found[1], ""), planned.url)
    written = [found["secret"] for found in _PASSWORD.finditer(url)]
    written += [found[2] for found in _SECRET_OPTION.finditer(url)]
    values = [*(form for one in written for form in (one, unquote(one))), environ.get("PGPASSWORD", "")]
    return tuple(dict.fromkeys(value for value in values if value and value != "***"))


def _shown(found: re.Match[str]) -> str:
    """Keep the name of a variable, which is no secret."""
    return found[0] if _VARIABLE.fullmatch(found["secret"]) else f"{found['before']}***"


def _no_kind(url: str, scheme: str | None) -> str:
    if scheme and len(scheme) > 1:
        return f"there is no kind of database {scheme!r}{did_you_mean(scheme.lower(), KINDS)}"
    kind = _LIKELY.get(Path(url).suffix.lower(), "duckdb")
    return f"it has no scheme; write {f'{kind}:{url}'!r}, or 'postgres://user@host/name'"


def _found(rest: str, root: Path) -> Path | None:
    """Return the path that is there: ``duckdb:a/b``, ``duckdb://a/b``, ``duckdb:/a/b``, ``duckdb:///a/b``.

    Three slashes mean a relative path to some programs and an absolute one to others: what is there decides.
    """
    if not rest.strip("/"):
        return None
    plain = rest.removeprefix("//")
    candidates = [plain]
    if rest.startswith("///"):
        candidates = [plain.lstrip("/"), f"/{plain.lstrip('/')}"]
    paths = [root / Path(one).expanduser() for one in candidates]
    return next((path.resolve() for path in paths if path.exists()), None)


def _check_server(url: str, place: str) -> None:
    from importlib.util import find_spec

    if find_spec("psycopg") is None:
        raise ConfigError(f"{place}: PostgreSQL needs a driver; install it with pip install 'reeval[postgres]'")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # its words quote the URL, in parts that nothing masks
        raise ConfigError(f"{place}: {_NO_URL}") from None
    if not url.partition(":")[2].startswith("//") or port == 0:
        raise ConfigError(f"{place}: {_NO_URL}")
