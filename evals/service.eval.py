"""Scored: how much of the work was done? Run it with `reeval run --kind scored`."""

from reeval import BlockingScoredAttempt, command_succeeded, environment, equals, evaluate, includes

empty = environment("empty", rules="Start every file with `# Written by an agent.`.")


@evaluate("writes two greeters", scored=True, environment=empty, harness="scribe")
def writes_two_greeters(c: BlockingScoredAttempt) -> None:
    """A plain `def` body: nothing in it needs `await`."""
    c.send("Write greet.py that greets the name it is given.")
    c.file_changed("greet.py").score(1).label("wrote greet.py")
    c.check(c.read_text("greet.py").splitlines()[0], equals("# Written by an agent.")).score(1).label("obeys the rules")

    turn = c.send("Write greet.sh that greets the name it is given.")
    c.file_changed("greet.sh").score(1).label("wrote greet.sh")
    result = c.exec(["sh", "greet.sh", "Ada"])
    c.check(result, command_succeeded()).score(1).label("greet.sh runs")
    c.check(result.stdout, includes("Ada")).score(2).label("greet.sh greets")
    if len(turn.message) < 200:
        c.score(1).label("answer is short")
