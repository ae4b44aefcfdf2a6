"""Does a skill help? The same task without it and with it, four attempts a side, side by side."""

from reeval import Attempt, compare, environment, evaluate, skill

plain = environment("plain", files={"README.md": "# Greeter\n"})
with_house_greeting = plain.extend("with-house-greeting", skills=[skill.local("evals/skills/house-greeting")])


@evaluate("greets as the house does", harness="scribe", tags=["compare"])
@compare(baseline=plain, variants=[with_house_greeting], min_lift=0.5)
async def greets(c: Attempt) -> None:
    await c.send("Write greet.py that greets the name it is given.")
    named = await c.exec("python3 greet.py Ada")
    assert named.exit_code == 0
    assert named.stdout == "Ahoy, Ada!\n"
