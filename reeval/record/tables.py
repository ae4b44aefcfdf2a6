"""Which tables can ``reeval query`` read? Every table and column, once: for creating, for the docs and for messages.

An attempt's key is ``(run_id, eval, attempt_id)``; a cell's ``(run_id, eval, cell)``; an eval's ``(run_id, eval)``.
Times are UTC, durations seconds, costs US dollars; NULL is unknown or does not apply.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from reeval.record.answers.tables import ANSWER_TABLES
from reeval.record.compared.tables import LIFT_TABLES, RATE_VIEWS
from reeval.record.data.tables import DATA_TABLES, DATA_VIEWS

__all__ = ["TABLES", "VIEWS", "Column", "Table", "View", "create_statements", "table_list"]

Type = Literal["VARCHAR", "VARCHAR[]", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP"]


class Column(msgspec.Struct, frozen=True):
    """One column."""

    name: str
    type: Type
    meaning: str


class Table(msgspec.Struct, frozen=True):
    """One table; ``key`` names the columns that identify a row."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]


class View(msgspec.Struct, frozen=True):
    """A query over the tables, under a name; its columns in order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    sql: str


def _table(name: str, meaning: str, key: str, columns: str) -> Table:
    return Table(name, meaning, tuple(key.split()), _columns(columns))


def _columns(text: str) -> tuple[Column, ...]:
    """Read lines of ``name TYPE meaning``."""
    return tuple(Column(*line.split(maxsplit=2)) for line in text.splitlines() if line.strip())  # type: ignore[arg-type]


_ATTEMPT = "run_id eval attempt_id"
_ATTEMPT_COLUMNS = """
    run_id        VARCHAR    The run, as `reeval runs` lists it: joins all tables
    eval          VARCHAR    The eval's id: `evals/greet.eval.py::greetings::greets by name`
    attempt_id    VARCHAR    The attempt in its eval: `terse/plain/fake#1`
"""

TABLES: tuple[Table, ...] = (
    _table(
        "runs",
        "One row for each run.",
        "run_id",
        """
        run_id          VARCHAR    The run, as `reeval runs` lists it: joins all tables
        state           VARCHAR    `completed`, `failed` or `interrupted`
        kind            VARCHAR    `pass-fail` or `scored`
        exit_code       INTEGER    What it told the shell
        created_at      TIMESTAMP  When it began
        ended_at        TIMESTAMP  When it ended; NULL: it was killed
        created_by      VARCHAR    Who started it
        project         VARCHAR    Name of the project's directory
        profile         VARCHAR    The profile it used
        target          VARCHAR    Where data questions ran: `dev`, `staging`, `prod`
        selection       VARCHAR    What was selected, as one types it; empty: everything
        command         VARCHAR    The command line
        git_commit      VARCHAR    Commit of the project
        git_branch      VARCHAR    Branch of the project
        git_dirty       BOOLEAN    Whether files differed from the commit
        host            VARCHAR    Name of the machine
        platform        VARCHAR    Operating system
        python_version  VARCHAR    Python that ran reeval
        reeval_version  VARCHAR    Version of reeval
        planned         INTEGER    Attempts that were planned
        passed          INTEGER    Attempts that ended `pass`
        failed          INTEGER    Attempts that ended `fail`
        review          INTEGER    Attempts that ended `review`
        error           INTEGER    Attempts that ended `error`
        skipped         INTEGER    Attempts that ended `skipped`
        scored          INTEGER    Attempts that ended `scored`
        cost            DOUBLE     Dollars of the whole run
        """,
    ),
    _table(
        "evals",
        "One row for each eval of a run, also those that were skipped or are still to write.",
        "run_id eval",
        """
        run_id       VARCHAR    The run
        eval         VARCHAR    The eval's id
        file         VARCHAR    Its file, from the project's root
        name         VARCHAR    Its own name
        path         VARCHAR[]  Names of its groups, then its own
        kind         VARCHAR    `pass-fail` or `scored`
        mode         VARCHAR    `run`, `skip` or `todo`
        skip_reason  VARCHAR    Why it is skipped
        description  VARCHAR    What it says about itself
        asks         VARCHAR    A data question: what the agent is asked
        tags         VARCHAR[]  Its tags
        runs         INTEGER    Attempts of each cell and case
        cases        INTEGER    Number of cases; 0: it has none
        task         VARCHAR    Digest of what it asks and how it grades
        """,
    ),
    _table(
        "cells",
        "One row for each cell (harness × environment × sandbox of an eval): what its attempts add up to.",
        "run_id eval cell",
        """
        run_id          VARCHAR  The run
        eval            VARCHAR  The eval's id
        cell            VARCHAR  `terse/plain/fake`
        harness         VARCHAR  The configured agent
        environment     VARCHAR  What it started from; `-`: nothing
        sandbox         VARCHAR  Where it ran
        role            VARCHAR  `control` or `variant`, in a compare
        planned         INTEGER  Attempts that were planned
        passed          INTEGER  Attempts that ended `pass`
        failed          INTEGER  Attempts that ended `fail`
        review          INTEGER  Attempts that ended `review`
        error           INTEGER  Attempts that ended `error`: left out of rates
        skipped         INTEGER  Attempts that ended `skipped`: left out of rates
        scored          INTEGER  Attempts that ended `scored`
        verdict_failed  INTEGER  Scored attempts whose verdict is `fail`
        pass_rate       DOUBLE   passed / (passed + failed + review)
        mean_score      DOUBLE   Over complete scores
        complete        INTEGER  Attempts with a complete score
        gate            VARCHAR  `all`, `pass_rate`, `mean_score`, `accuracy`, `majority` or `none`
        minimum         DOUBLE   The gate's minimum
        value           DOUBLE   What was compared with it
        holds           BOOLEAN  Whether the gate holds; NULL: undecided, or nothing to decide
        undecided       BOOLEAN  Errors or missing attempts could still change the gate
        duration        DOUBLE   Mean seconds of an attempt
        tokens          DOUBLE   Mean tokens of the agent
        cost            DOUBLE   Dollars of the agent, all attempts
        subject         VARCHAR  Digest of what ran: agent, environment, sandbox
        """,
    ),
    _table(
        "attempts",
        "One row for each finished attempt.",
        _ATTEMPT,
        _ATTEMPT_COLUMNS
        + """
        cell            VARCHAR    `terse/plain/fake`
        harness         VARCHAR    The configured agent
        environment     VARCHAR    What it started from; `-`: nothing
        sandbox         VARCHAR    Where it ran
        case            VARCHAR    Key of the case (a word of SQL: write "case"); NULL: no cases
        role            VARCHAR    `control` or `variant`, in a compare
        run             INTEGER    Number of the run in its cell and case, from 1
        outcome         VARCHAR    `pass`, `fail`, `review`, `scored`, `skipped` or `error`
        verdict         VARCHAR    Scored evals: `pass`, `fail`, `error` or `skipped`, beside the score
        score           DOUBLE     Scored evals: the sum of its points
        score_state     VARCHAR    `complete`, `partial` or `unavailable`
        partial_score   DOUBLE     A lower bound, where a scored check could not be evaluated
        phase           VARCHAR    Of an error: `sandbox`, `setup`, `harness`, `model`, `body`, `agent`, `truth`, …
        reason          VARCHAR    Of an error, a timeout or a skip
        started_at      TIMESTAMP  When it began
        duration        DOUBLE     Seconds of the body, without setup
        start_duration  DOUBLE     Seconds until the sandbox was ready; NULL: none was needed
        model           VARCHAR    The model that served the last turn
        turns           INTEGER    Number of turns
        tool_calls      INTEGER    Number of tool calls in them
        files_changed   INTEGER    Number of files that the agent changed, summed over turns
        tokens          BIGINT     Tokens of the agent
        cost            DOUBLE     Dollars of the agent
        tries           INTEGER    2: at first its sandbox or session did not start, or its model was not to be had
        task            VARCHAR    Digest of what it was asked and how it was graded
        subject         VARCHAR    Digest of what ran
        """,
    ),
    _table(
        "checks",
        "One row for each check of an attempt, in source order.",
        f"{_ATTEMPT} n",
        _ATTEMPT_COLUMNS
        + """
        n            INTEGER  Place in the attempt, from 1
        label        VARCHAR  What it is called
        key          VARCHAR  Its key, when it has one
        match        VARCHAR  The match; `assert`, `score` or `judge`
        status       VARCHAR  `matched`, `mismatched`, `measured`, `unavailable` or `errored`
        measurement  DOUBLE   0 to 1, with `measured`
        gate         BOOLEAN  It decides the outcome
        minimum      DOUBLE   The gate's minimum
        holds        BOOLEAN  Whether the gate holds; NULL: no gate, or not evaluated
        points       DOUBLE   What it can contribute
        earned       DOUBLE   What it contributed
        optional     BOOLEAN  Shown, never deciding
        stopped      BOOLEAN  `or_stop` ended the body here
        message      VARCHAR  Expected and got, or the reason
        line         INTEGER  Line in the eval file
        duration     DOUBLE   Seconds, when they matter
        """,
    ),
    _table(
        "turns",
        "One row for each turn: a prompt and the agent's answer.",
        f"{_ATTEMPT} turn",
        _ATTEMPT_COLUMNS
        + """
        turn           INTEGER  Place in the attempt, from 1
        prompt         VARCHAR  The prompt; long ones are cut in the middle, as all texts here
        message        VARCHAR  The final message
        status         VARCHAR  `completed` or `failed`
        error          VARCHAR  Why it failed
        model          VARCHAR  The model that served
        session        VARCHAR  The agent's session
        started        DOUBLE   Seconds since the attempt began
        duration       DOUBLE   Seconds
        events         INTEGER  Number of events
        tool_calls     INTEGER  Number of tool calls among them
        files_changed  INTEGER  Number of files that the agent changed
        tokens         BIGINT   Tokens
        cost           DOUBLE   Dollars
        """,
    ),
    _table(
        "tool_calls",
        "One row for each tool call of a turn.",
        f"{_ATTEMPT} turn n",
        _ATTEMPT_COLUMNS
        + """
        turn       INTEGER  The turn
        n          INTEGER  Place in the turn, from 1
        name       VARCHAR  `shell`, `edit`, `read`, `search`, `fetch`, `skill` or `mcp__server__tool`
        native     VARCHAR  The agent's own name of it, when it differs
        input      VARCHAR  What it was called with, as JSON
        output     VARCHAR  What it answered
        ok         BOOLEAN  NULL: whether it succeeded was not reported
        exit_code  INTEGER  Of a command
        duration   DOUBLE   Seconds
        """,
    ),
    _table(
        "observations",
        "One row for each `c.observe`.",
        f"{_ATTEMPT} n",
        _ATTEMPT_COLUMNS
        + """
        n       INTEGER  Place in the attempt, from 1
        name    VARCHAR  Its name
        value   VARCHAR  Its value, as JSON
        number  DOUBLE   Its value, when it is a number
        """,
    ),
    _table(
        "usage",
        "One row for each spender of an attempt.",
        f"{_ATTEMPT} n",
        _ATTEMPT_COLUMNS
        + """
        n            INTEGER  Place in the attempt, from 1
        spender      VARCHAR  `agent`, `judge`, `question` or `analysis`
        model        VARCHAR  The model
        input        BIGINT   Prompt tokens, without cache
        output       BIGINT   Answer tokens, reasoning included
        cache_read   BIGINT   Tokens read from a cache
        cache_write  BIGINT   Tokens written to a cache
        reasoning    BIGINT   The part of output spent on reasoning
        cost         DOUBLE   Dollars
        """,
    ),
    _table(
        "judgments",
        "One row for each `c.judge` of an attempt, in source order.",
        f"{_ATTEMPT} n",
        _ATTEMPT_COLUMNS
        + """
        n         INTEGER  Place among the attempt's judges, from 1
        label     VARCHAR  The label of its check: joins `checks`
        judge     VARCHAR  The name of the `judge(…)`; NULL: a bare question
        question  VARCHAR  The rubric, or the question
        model     VARCHAR  The model that was to measure; NULL: there was none
        served    VARCHAR  What the provider says served it
        score     DOUBLE   0 to 1, the median of several votes; NULL: an error, or it could not be asked
        reason    VARCHAR  Why, in the model's words: of the vote that is the median
        votes     INTEGER  How often the model was asked
        spread    DOUBLE   The largest score minus the smallest, with several votes
        error     VARCHAR  Why there is no score
        duration  DOUBLE   Seconds
        input     VARCHAR  File of the run with what was sent and answered
        tokens    BIGINT   Tokens of all votes
        cost      DOUBLE   Dollars of all votes
        """,
    ),
    *(_table(*one) for one in ANSWER_TABLES),
    *(_table(*one) for one in LIFT_TABLES),
    *(_table(*one) for one in DATA_TABLES),
)

VIEWS: tuple[View, ...] = (
    View(
        "check_rates",
        "How often each check held, for each cell of a run.",
        _columns("""
        run_id       VARCHAR  The run
        eval         VARCHAR  The eval's id
        cell         VARCHAR  `terse/plain/fake`
        label        VARCHAR  The check
        match        VARCHAR  Its match
        attempts     BIGINT   Attempts of the cell that finished
        evaluated    BIGINT   Attempts in which it was evaluated; the rest never reached it or could not tell
        held         BIGINT   Attempts in which it matched, or its gate held
        rate         DOUBLE   held / those that can hold; NULL: none, a measurement without a gate
        measurement  DOUBLE   Mean measurement
        """),
        """
        SELECT run_id, eval, cell, label, any_value(match) AS match, any_value(of_cell) AS attempts,
            count(*) FILTER (status IN ('matched', 'mismatched', 'measured')) AS evaluated,
            count(*) FILTER (coalesce(checks.holds, status = 'matched')) AS held,
            count(*) FILTER (coalesce(checks.holds, status = 'matched'))
                / nullif(count(*) FILTER (checks.holds IS NOT NULL OR status IN ('matched', 'mismatched')), 0) AS rate,
            avg(measurement) AS measurement
        FROM checks
        JOIN (
            SELECT run_id, eval, attempt_id, cell, count(*) OVER (PARTITION BY run_id, eval, cell) AS of_cell
            FROM attempts
        ) USING (run_id, eval, attempt_id)
        GROUP BY run_id, eval, cell, label
        """,
    ),
    View(
        "latest",
        "The newest run of each eval: join it to see only newest results.",
        _columns("""
        run_id      VARCHAR    The newest run that ran the eval
        eval        VARCHAR    The eval's id
        created_at  TIMESTAMP  When that run began
        state       VARCHAR    `completed`, `failed` or `interrupted`
        """),
        """
        SELECT evals.run_id, evals.eval, runs.created_at, runs.state
        FROM evals JOIN runs USING (run_id)
        WHERE evals.mode = 'run'
        QUALIFY row_number() OVER (PARTITION BY evals.eval ORDER BY runs.created_at DESC, evals.run_id DESC) = 1
        """,
    ),
    *(View(name, meaning, _columns(columns), sql) for name, meaning, columns, sql in (*RATE_VIEWS, *DATA_VIEWS)),
)


def create_statements() -> list[str]:
    """Return the SQL that makes the empty tables."""
    return [f'CREATE TABLE "{table.name}" ({_specs(table)})' for table in TABLES]


def table_list() -> str:
    """Return every table and view with its columns, for a person who misspelt one."""
    everything = [*((table.name, table.columns) for table in TABLES), *((view.name, view.columns) for view in VIEWS)]
    return "\n".join(f"  {name:<15} {', '.join(column.name for column in columns)}" for name, columns in everything)


def _specs(table: Table) -> str:
    return ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
