"""Which tables and views hold lifts and rates? As text: name, meaning, key or SQL, and columns of each."""

from __future__ import annotations

__all__ = ["LIFT_TABLES", "RATE_VIEWS"]

LIFT_TABLES: tuple[tuple[str, str, str, str], ...] = (
    (
        "lifts",
        "One row for each lift of a run: a variant against its control, on one harness, over all, or over evals.",
        "run_id n",
        """
        run_id            VARCHAR    The run, as `reeval runs` lists it: joins all tables
        n                 INTEGER    Place in the run, from 1: joins `lift_measures`
        eval              VARCHAR    The eval's id; NULL: pooled over several evals
        variant           VARCHAR    The variant's environment
        control           VARCHAR    The control's environment
        harness           VARCHAR    The configured agent; NULL: over all, stratified
        sandbox           VARCHAR    Where it ran; NULL: over all, stratified
        scored            BOOLEAN    `lift` is a difference of mean scores
        control_passed    INTEGER    Attempts of the control that passed
        control_decided   INTEGER    Its attempts that count: passed, failed, review; with `scored` the complete scores
        variant_passed    INTEGER    Attempts of the variant that passed
        variant_decided   INTEGER    Its attempts that count
        control_mean      DOUBLE     The control's pass rate, or mean score
        variant_mean      DOUBLE     The variant's pass rate, or mean score
        lift              DOUBLE     Variant minus control; NULL: a side has no decided attempt
        low               DOUBLE     Lower end of its 95 % interval
        high              DOUBLE     Upper end of its 95 % interval
        p                 DOUBLE     Of the exact test, two-sided
        said              VARCHAR    `helped`, `made it worse` or `can't tell yet`
        doubt             VARCHAR    Why it can't be told yet
        cases             INTEGER    Cases that count, for an eval with cases
        evals             INTEGER    Evals that were pooled
        min_lift          DOUBLE     The smallest lift that the compare asks for
        holds             BOOLEAN    Whether it has that; NULL: none is asked for, or it is undecided
        undecided         BOOLEAN    Errors or missing attempts could still change `holds`
        identical         BOOLEAN    Both sides ran the very same: nothing was varied
        errors_differ     BOOLEAN    The sides' error rates differ
        alike             VARCHAR[]  Checks that passed or failed alike on every attempt of both sides
        """,
    ),
    (
        "lift_measures",
        "One row for each other measure of a lift on one harness.",
        "run_id n measure",
        """
        run_id      VARCHAR  The run
        n           INTEGER  The lift: joins `lifts`
        measure     VARCHAR  `tokens`, `cost`, `duration`, `turns` or `tool_calls`
        control     DOUBLE   Median of the control's attempts
        variant     DOUBLE   Median of the variant's attempts
        difference  DOUBLE   Variant minus control
        relative    DOUBLE   The difference as a share of the control; NULL where that is 0
        p           DOUBLE   Of the rank test, two-sided
        said        VARCHAR  `less`, `more` or `can't tell yet`
        """,
    ),
)

_COUNTS = """
    count(*) FILTER (attempts.outcome = 'pass') AS passed,
    count(*) FILTER (attempts.outcome IN ('pass', 'fail', 'review')) AS decided,
    count(*) FILTER (attempts.outcome = 'error') AS errors,
    count(*) FILTER (attempts.outcome = 'pass')
        / nullif(count(*) FILTER (attempts.outcome IN ('pass', 'fail', 'review')), 0) AS pass_rate,
    avg(attempts.score) FILTER (attempts.outcome = 'scored') AS mean_score
"""
_COUNT_COLUMNS = """
    passed      BIGINT   Attempts that ended `pass`
    decided     BIGINT   Attempts that ended `pass`, `fail` or `review`
    errors      BIGINT   Attempts that ended `error`: left out of rates
    pass_rate   DOUBLE   passed / decided
    mean_score  DOUBLE   Of scored evals, over complete scores
"""

RATE_VIEWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "pass_at",
        "The chance that at least one of k attempts of a cell passes (pass@k), and that all do (pass^k).",
        """
        run_id    VARCHAR  The run
        eval      VARCHAR  The eval's id
        cell      VARCHAR  `terse/plain/fake`
        k         BIGINT   Attempts, from 1 to those that were decided
        cases     BIGINT   Cases with at least k decided attempts, over which is averaged; 1 where there are no cases
        pass_at   DOUBLE   pass@k, unbiased
        pass_hat  DOUBLE   pass^k, unbiased
        """,
        """
        WITH counts AS (
            SELECT run_id, eval, cell, "case",
                count(*) FILTER (outcome = 'pass') AS passed, count(*) AS decided
            FROM attempts WHERE outcome IN ('pass', 'fail', 'review')
            GROUP BY run_id, eval, cell, "case"
        ), chances AS (
            SELECT *, unnest(range(1, decided + 1)) AS k FROM counts
        ), estimates AS (
            SELECT *,
                list_product([greatest(decided - passed - i, 0) / (decided - i) FOR i IN range(k)]) AS none_of,
                list_product([greatest(passed - i, 0) / (decided - i) FOR i IN range(k)]) AS all_of
            FROM chances
        )
        SELECT run_id, eval, cell, k, count(*) AS cases, avg(1 - none_of) AS pass_at, avg(all_of) AS pass_hat
        FROM estimates GROUP BY run_id, eval, cell, k ORDER BY run_id, eval, cell, k
        """,
    ),
    (
        "tag_rates",
        "What the attempts of all evals with a tag add up to, for each harness and environment of a run.",
        f"""
        run_id       VARCHAR  The run
        tag          VARCHAR  The tag
        harness      VARCHAR  The configured agent
        environment  VARCHAR  What it started from; `-`: nothing
        evals        BIGINT   Evals with the tag
        {_COUNT_COLUMNS}
        """,
        f"""
        SELECT attempts.run_id, tags.tag, attempts.harness, attempts.environment,
            count(DISTINCT attempts.eval) AS evals, {_COUNTS}
        FROM attempts JOIN (SELECT run_id, eval, unnest(tags) AS tag FROM evals) AS tags USING (run_id, eval)
        GROUP BY attempts.run_id, tags.tag, attempts.harness, attempts.environment
        """,  # noqa: S608 - nothing in it comes from outside
    ),
    (
        "case_rates",
        "What the attempts of each case add up to, for each cell of a run.",
        f"""
        run_id       VARCHAR  The run
        eval         VARCHAR  The eval's id
        case         VARCHAR  Key of the case (a word of SQL: write "case")
        cell         VARCHAR  `terse/plain/fake`
        harness      VARCHAR  The configured agent
        environment  VARCHAR  What it started from; `-`: nothing
        {_COUNT_COLUMNS}
        """,
        f"""
        SELECT run_id, eval, "case", cell, harness, environment, {_COUNTS}
        FROM attempts WHERE "case" IS NOT NULL
        GROUP BY run_id, eval, "case", cell, harness, environment
        """,  # noqa: S608 - nothing in it comes from outside
    ),
)
