"""A scored eval: checks say what must work, a judge how good it is. The judge is scripted, so this runs offline."""

from reeval import ScoredAttempt, command_succeeded, environment, evaluate, includes, judge, skill

plain = environment("plain", files={"README.md": "# Greeter\n"})
house = plain.extend("house", skills=[skill.local("evals/skills/house-greeting")])

robust = judge(
    "robust",
    "Judge how well the program copes with input that its author may not have thought of.",
    anchors={0.0: "it does not greet at all", 0.6: "it greets a name, and breaks without one", 1.0: "it always greets"},
    model="critic",
)


@evaluate("writes a robust greeter", scored=True, environment=house, harness=["scripted", "scribe"], tags=["judged"])
async def robust_greeter(c: ScoredAttempt) -> None:
    await c.send("Write greet.py that greets the name it is given.")
    named = await c.exec("python3 greet.py Ada")
    c.check(named, command_succeeded()).gate().score(2)
    c.check(named.stdout, includes("Ada")).score(3)
    # One call: its measurement has to reach 0.5, and earns up to 5 points.
    c.judge(robust).gate(0.5).score(5).label("robust")
