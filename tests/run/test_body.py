from __future__ import annotations

from reeval.errors import Phase
from reeval.schema.record import Outcome
from tests.run.kit import Stage


def test_a_body_whose_checks_hold_passes(stage: Stage) -> None:
    record = stage.record('''
@evaluate("answers")
async def answers(c):
    turn = await c.send("Do it.")
    c.check(turn.message, includes("Done"))
    assert turn.message == "Done."
''')
    assert record.outcome == Outcome.PASS
    assert [check.label for check in record.checks] == ["includes 'Done'", 'turn.message == "Done."']
    assert record.turns[0].prompt == "Do it."
    assert stage.sandbox.opened == 0
