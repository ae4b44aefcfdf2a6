"""Which functions of PostgreSQL reach out of a query: to the server's files, other servers, or the session itself?"""

from __future__ import annotations

import re

from reeval.backends import QueryError
from reeval.databases.statements import Statement

__all__ = ["refuse_reaching_out"]

_OUTSIDE = re.compile(
    r"pg_read_\w+|pg_ls_\w+|pg_stat_file|pg_file_\w+|pg_logdir_ls|pg_current_logfile|lo_\w+|dblink\w*"
    r"|set_config|query_to_xml\w*|cursor_to_xml\w*|database_to_xml\w*|schema_to_xml\w*|table_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*|connectby"
    r"|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_logfile|pg_promote|pg_notify"
    r"|pg_(?:try_)?advisory_\w+|pg_create_\w+|pg_drop_\w+|pg_logical_\w+|pg_replication_\w+|pg_switch_wal|pg_export_snapshot"
)
"""The rights of the user decide what these do. Those that run a text as SQL could hide each of the others."""
_NOT_THESE = frozenset({"pg_read_all_data", "pg_read_all_settings", "pg_read_all_stats"})
_WRITING = frozenset({"insert", "update", "delete", "merge", "truncate", "into"})


def refuse_reaching_out(statement: Statement, *, reads_only: bool) -> None:
    """Raise ``QueryError`` for a query that names such a function.

    A name with an escape could be any of them.
    ``reads_only`` is False for a server that cannot promise to write nothing: then no word of writing may stand in it.
    """
    for word in statement.words:
        if "\\" in word or (_OUTSIDE.fullmatch(word) and word not in _NOT_THESE):
            raise QueryError(f"{word} is refused: a query may only read tables")
        if not reads_only and word in _WRITING:
            raise QueryError(f"{word.upper()} is refused: the database is only read")
