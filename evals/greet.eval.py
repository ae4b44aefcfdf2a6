"""Two agents write a greeter: a scripted one, and a small real program."""

from reeval import Attempt, command_succeeded, environment, evaluate, excludes, group, includes, skill

plain = environment("plain", files={"README.md": "# Greeter\n"})
house = plain.extend("house", skills=[skill.local("evals/skills/house-greeting")])

PROMPT = "Write greet.py that greets the name it is given."


@group("greetings", tags=["smoke"])
def greetings() -> None:
    @evaluate("greets by name", environment=plain, runs=2)
    async def greets(c: Attempt) -> None:
        turn = await c.send(PROMPT)
        c.check(turn.message, includes("greet.py")).label("names the file")
        c.file_changed("greet.py", status="added")
        result = await c.exec("python3 greet.py Ada")
        await c.check(result, command_succeeded()).label("runs").or_stop()
        c.check(result.stdout, includes("Ada"))

    @evaluate("follows the house", environment=house, harness="scribe")
    async def follows(c: Attempt) -> None:
        await c.send(PROMPT)
        named = await c.exec("python3 greet.py Ada")
        nameless = await c.exec("python3 greet.py")
        assert named.stdout == "Ahoy, Ada!\n"
        c.check(nameless.stdout, includes("crew"))
        c.check(nameless.stderr, excludes("Traceback"))
