"""Which table holds the answers to data questions, and which view what they add up to? As text."""

from __future__ import annotations

__all__ = ["DATA_TABLES", "DATA_VIEWS"]

DATA_TABLES: tuple[tuple[str, str, str, str], ...] = (
    (
        "data_results",
        "One row for each attempt at a data question: both queries, and why it did not pass.",
        "run_id eval attempt_id",
        """
        run_id           VARCHAR    The run, as `reeval runs` lists it: joins all tables
        eval             VARCHAR    The question's id: `auto/revenue_by_quarter`
        attempt_id       VARCHAR    The attempt in its eval: `analyst/-/fake#1`
        cell             VARCHAR    `analyst/-/fake`
        harness          VARCHAR    The agent that was asked
        environment      VARCHAR    What it started from; `-`: nothing
        role             VARCHAR    `control` or `variant`, in a compare
        run              INTEGER    Number of the run in its cell, from 1
        space            VARCHAR    Where the question's name is unique
        question         VARCHAR    The question's name
        asks             VARCHAR    What the agent is asked
        outcome          VARCHAR    `pass`, `fail`, `review` or `error`
        reason           VARCHAR    Why it did not pass: `Row count mismatch`, `Value mismatch`, …
        analysis         VARCHAR    What differs, in plain English
        warnings         VARCHAR[]  What to know about the result beside that
        certified_query  VARCHAR    The certified query that the ground truth is from
        truth_sql        VARCHAR    The ground truth
        agent_sql        VARCHAR    What the agent ran for its answer; NULL: nothing
        truth_rows       BIGINT     Rows of the ground truth; NULL: it was not run, or failed
        agent_rows       BIGINT     Rows of the agent's query; NULL: it was not run, or failed
        truth_columns    INTEGER    Columns of the ground truth
        agent_columns    INTEGER    Columns of the agent's query
        response         VARCHAR    The agent's message
        """,
    ),
)

DATA_VIEWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "accuracy",
        "How many data questions each cell of a run passed: of a question every attempt has to.",
        """
        run_id       VARCHAR  The run
        cell         VARCHAR  `analyst/-/fake`
        harness      VARCHAR  The agent
        environment  VARCHAR  What it started from; `-`: nothing
        passed       BIGINT   Questions of which every planned attempt passed
        total        BIGINT   Questions of the run
        accuracy     DOUBLE   passed / total
        """,
        """
        SELECT run_id, cell, any_value(harness) AS harness, any_value(environment) AS environment,
            count(*) FILTER (passed = planned) AS passed, count(*) AS total,
            count(*) FILTER (passed = planned) / count(*) AS accuracy
        FROM cells JOIN (SELECT run_id, eval FROM evals WHERE asks IS NOT NULL) USING (run_id, eval)
        WHERE planned > 0
        GROUP BY run_id, cell
        """,
    ),
)
