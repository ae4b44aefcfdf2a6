from __future__ import annotations

from pathlib import Path

import pytest

from reeval.databases.urls import database_secrets, masked_url, plan_database
from reeval.errors import ConfigError
from reeval.schema.data.questions import PlannedDatabase


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "shop.duckdb").touch()
    return tmp_path


@pytest.mark.parametrize(
    "url",
    ["duckdb:data/shop.duckdb", "duckdb://data/shop.duckdb", "duckdb:///data/shop.duckdb", "DuckDB:./data/shop.duckdb"],
)
def test_paths_become_absolute(root: Path, url: str) -> None:
    assert plan_database(url, root, {}).url == f"duckdb:{root / 'data/shop.duckdb'}"


@pytest.mark.parametrize("slashes", [":", "://", ":///"])
def test_an_absolute_path_is_one_with_any_number_of_slashes(root: Path, slashes: str) -> None:
    path = root / "data/shop.duckdb"
    url = f"sqlite{slashes}{path if slashes != ':///' else str(path).lstrip('/')}"
    assert plan_database(url, Path("/tmp"), {}) == PlannedDatabase(kind="sqlite", url=f"sqlite:{path}")


def test_a_folder_is_a_database_of_duckdb(root: Path) -> None:
    assert plan_database("duckdb:data", root, {}).url == f"duckdb:{root / 'data'}"


def test_variables_are_filled_in_but_a_servers_url_is_kept_without_its_password(root: Path) -> None:
    environ = {"WHERE": "data", "PG": "p@ss:word", "DB": "postgres://u:secret@h/d"}
    assert plan_database("duckdb:${WHERE}", root, environ).url == f"duckdb:{root / 'data'}"
    planned = plan_database("postgres://asker:${PG}@db/shop", root, environ)
    assert planned.url == "postgres://asker:${PG}@db/shop"
    assert "p@ss:word" in database_secrets(planned, environ)
    whole = plan_database("${DB}", root, environ)
    assert (whole.kind, whole.url, database_secrets(whole, environ)) == ("postgres", "${DB}", ("secret",))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("duckdb:nope.duckdb", "[data]: database 'duckdb:nope.duckdb': there is no such file or directory; paths"),
        ("duckdb:", "there is no such file or directory"),
        ("duckbd:data", "there is no kind of database 'duckbd'; did you mean 'duckdb'?"),
        ("mysql://h/d", "there is no kind of database 'mysql'; known: duckdb, postgres, sqlite"),
        ("data/shop.sqlite", "it has no scheme; write 'sqlite:data/shop.sqlite', or 'postgres://user@host/name'"),
        ("", "it has no scheme; write 'duckdb:'"),
        ("postgres:host", "it is no URL; write 'postgres://user@host:5432/name'"),
        ("postgres://h:99999/d", "it is no URL; write 'postgres://user@host:5432/name'"),
        ("postgres://u:${NOT_THERE}@h/d", "the variable NOT_THERE is not set; set it (also in .env)"),
    ],
)
def test_what_cannot_be_a_database_is_told_with_the_next_step(root: Path, url: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan_database(url, root, {})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://u:p@ss/w@h/d", "postgres://u:***@h/d"),
        ("postgres://u:p@ss@h/d", "postgres://u:***@h/d"),
        ("postgres://u:p#ss@h/d", "postgres://u:***@h/d"),
        ("postgres://u:p?ss@h/d?mail=a@b", "postgres://u:***@h/d?mail=a@b"),
        ("postgres://h:5432/d?mail=a@b", "postgres://h:5432/d?mail=a@b"),
        ("postgres://u:pw@h:5432/d?mail=a@b", "postgres://u:***@h:5432/d?mail=a@b"),
        ("postgres://u@h/d?password=pw&sslmode=require", "postgres://u@h/d?password=***&sslmode=require"),
        ("postgres://u:${PG}@h/d", "postgres://u:${PG}@h/d"),
        ("postgres://u@h/d", "postgres://u@h/d"),
        ("duckdb:/a:b@c", "duckdb:/a:b@c"),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert masked_url(url) == shown


@pytest.mark.parametrize(
    "url",
    ["mysql://u:hunter22@h/d", "postgres://u:hunter22#x@h/d", "postgres://u:hunter22?x@h/d", "postgres://u:${PG}@h/d"],
)
def test_an_error_about_a_url_does_not_show_its_password(root: Path, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan_database(url, root, {"PG": "hunter22#x"})
    assert "hunter22" not in str(caught.value)


def test_every_form_of_a_password_is_a_secret() -> None:
    planned = PlannedDatabase(kind="postgres", url="postgres://u:a%20b@h/d?sslpassword=cert")
    assert database_secrets(planned, {"PGPASSWORD": "inherited"}) == ("a%20b", "a b", "cert", "inherited")
    hashed = PlannedDatabase(kind="postgres", url="postgres://u:a#b@h/d?password=a%20b")
    assert database_secrets(hashed, {}) == ("a#b", "a%20b", "a b")
    assert database_secrets(PlannedDatabase(kind="duckdb", url="duckdb:/x"), {"PGPASSWORD": "inherited"}) == ()
