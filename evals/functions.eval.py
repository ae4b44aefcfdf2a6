"""One eval with many cases: the agent adds a function, a hidden test calls it."""

from dataclasses import dataclass

from reeval import Attempt, command_succeeded, environment, evaluate, load_text

HIDDEN_TEST = load_text("evals/hidden/call.py")

library = environment("library", files={"shapes.py": '"""Areas of shapes."""\n'})


@dataclass(frozen=True)
class Case:
    name: str
    signature: str
    expression: str
    call: str
    result: str


CASES = [
    Case("square", "side", "side * side", "square(3)", "9"),
    Case("rectangle", "width, height", "width * height", "rectangle(2, 5)", "10"),
    Case("triangle", "base, height", "base * height / 2", "triangle(4, 3)", "6.0"),
]


@evaluate.each(CASES, "adds {name}", environment=library, harness="scribe", tags=["functions"])
async def adds_function(c: Attempt, case: Case) -> None:
    await c.send(f"Add function {case.name}({case.signature}) to shapes.py that returns {case.expression}.")
    c.changed_paths(["shapes.py"])
    await c.write_file("hidden_test.py", HIDDEN_TEST)
    called = await c.exec(["python3", "hidden_test.py", case.call])
    await c.check(called, command_succeeded()).or_stop()
    assert called.stdout.strip() == case.result
