"""Both agents pass; questions to a model tell what pass and fail cannot."""

from reeval import Attempt, Question, command_succeeded, evaluate, questions


@evaluate("greets, by whatever name", runs=2, question="reader", tags=["questions"])
@questions(
    # asked of each attempt as it ends; the model picks one
    Question("Does greet.py handle a missing name?", choices=["yes", "no"]),
    # asked of each attempt, answered in words
    "How does greet.py treat a missing name?",
    # asked of pairs that differ in the harness, once all attempts ended
    Question("Which greet.py handles a missing name better?", across="harness"),
)
async def greets(c: Attempt) -> None:
    await c.send("Write greet.py that greets the name it is given.")
    c.check(await c.exec("python3 greet.py Ada"), command_succeeded())
