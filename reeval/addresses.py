"""Is a text the address of a server, and which host does it lead to?"""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["host_of", "is_address"]


def is_address(url: str) -> bool:
    """Say whether something could be asked at this URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # no such port, or brackets that do not match
        return False
    plain = url.isascii() and url.isprintable() and not parts.fragment
    return plain and parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0


def host_of(url: str) -> str:
    """Return ``host:port`` of a URL, the port only where it names one; empty where there is no host."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""
