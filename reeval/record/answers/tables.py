"""Which tables hold what models answered to questions? As text: name, meaning, key and columns of each."""

from __future__ import annotations

__all__ = ["ANSWER_TABLES"]

ANSWER_TABLES: tuple[tuple[str, str, str, str], ...] = (
    (
        "attempt_answers",
        "One row for each answer to a question about one attempt, beside what its attempt was.",
        "run_id eval attempt_id n",
        """
        eval         VARCHAR  The eval's id
        attempt_id   VARCHAR  The attempt in its eval: `terse/plain/fake#1`
        choice       VARCHAR  The choice that was picked
        answer       VARCHAR  The answer in words; NULL with choices, or on an error
        n            INTEGER  The question's number in its eval, from 1
        case         VARCHAR  Key of the case (a word of SQL: write "case"); NULL: no cases
        harness      VARCHAR  The configured agent
        environment  VARCHAR  What it started from; `-`: nothing
        role         VARCHAR  `control` or `variant`, in a compare
        outcome      VARCHAR  `pass`, `fail`, `review` or `scored`
        question     VARCHAR  The question
        reason       VARCHAR  Why, in short
        model        VARCHAR  The model that was asked
        served       VARCHAR  What the provider says served it
        error        VARCHAR  Why there is no answer
        duration     DOUBLE   Seconds
        cost         DOUBLE   Dollars
        input        VARCHAR  File of what was sent and answered, from the run's directory
        run_id       VARCHAR  The run, as `reeval runs` lists it: joins all tables
        """,
    ),
    (
        "question_pairs",
        "One row for each pair of attempts that a question was asked about, in both orders.",
        "run_id eval n factor left_attempt right_attempt",
        """
        run_id         VARCHAR  The run
        eval           VARCHAR  The eval's id
        n              INTEGER  The question's number in its eval, from 1
        factor         VARCHAR  What differs: `environment` or `harness`
        left_attempt   VARCHAR  An attempt: joins `attempts.attempt_id`
        right_attempt  VARCHAR  The other one
        left_value     VARCHAR  The left attempt's environment or harness
        right_value    VARCHAR  The right attempt's
        question       VARCHAR  The question
        model          VARCHAR  The model that was asked
        served         VARCHAR  What the provider says served it
        left_wins      INTEGER  Votes for the left side
        right_wins     INTEGER  Votes for the right side
        ties           INTEGER  Votes for neither
        errors         INTEGER  Orders without a vote
        split          BOOLEAN  The two orders picked opposite sides: the position decided
        cost           DOUBLE   Dollars
        input          VARCHAR  File of what was sent and answered, from the run's directory
        """,
    ),
    (
        "votes",
        "One row for each vote: a pair in one order.",
        "run_id eval n factor left_attempt right_attempt shown_first",
        """
        run_id         VARCHAR  The run
        eval           VARCHAR  The eval's id
        n              INTEGER  The question's number in its eval, from 1
        factor         VARCHAR  What differs: `environment` or `harness`
        left_attempt   VARCHAR  The pair's left attempt
        right_attempt  VARCHAR  The pair's right attempt
        shown_first    VARCHAR  `left` or `right`: the side the model saw as A
        winner         VARCHAR  The winner's environment or harness, or `tie`; NULL on an error
        side           VARCHAR  `left`, `right` or `tie`; NULL on an error
        reason         VARCHAR  Why, in short
        error          VARCHAR  Why there is no vote
        """,
    ),
)
