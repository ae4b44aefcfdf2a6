from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.databases.postgres_server import Server, programs, serving


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    bin = programs()
    if bin is None:
        assert "CI" not in os.environ, "CI installs postgresql"
        pytest.skip("PostgreSQL is not installed")
    with serving(bin) as server:
        server.run(
            "CREATE TABLE orders (id int, customer text, amount numeric(10,2))",
            "INSERT INTO orders SELECT i, 'c' || i % 7, i * 1.5 FROM generate_series(1, 100) i",
            "CREATE SCHEMA shop",
            "CREATE TABLE shop.items (a int)",
            "INSERT INTO shop.items VALUES (1)",
            "CREATE SEQUENCE numbers",
            "CREATE ROLE reader LOGIN PASSWORD 'pass-of-the-reader'",
            "GRANT SELECT ON orders TO reader",
        )
        yield server
