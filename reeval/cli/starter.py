"""What does a new project begin with? A config, an environment and an eval that runs offline."""

from __future__ import annotations

__all__ = ["FILES", "IGNORED"]

IGNORED = ".reeval/"
"""What ``.gitignore`` should hold: records are not source."""

_CONFIG = """\
# What every eval starts from. Nearer values win: profile, group, eval, flag.
[defaults]
environment = "plain"
timeout = "5m"

# The agents under test. This one is scripted, so that everything works offline and at once. Real ones are codex,
# claude-code and others, with `install = true`; a program of your own is `kind = "command"` with its command line.
[harness.scripted]
kind = "fake"
script = [[
    { write = { "greet.py" = "import sys\\n\\nprint(f\\"Hello, {sys.argv[1]}!\\")\\n" } },
    { reply = "I wrote greet.py, which greets the name it is given." },
]]

# What an attempt starts from: files, rules, skills, setup commands.
[environment.plain]
files = { "README.md" = "A place for small scripts.\\n" }

# `reeval run --profile quick`: one attempt of each cell, whatever the evals say.
[profile.quick]
limit = { runs = 1 }
"""

_EVAL = '''\
"""Can the agent write a small script that runs?"""

from reeval import Attempt, command_succeeded, evaluate, includes


@evaluate("greets by name", runs=2)
async def greets(c: Attempt) -> None:
    turn = await c.send("Write greet.py: it greets the name it is given.")
    c.check(turn.message, includes("greet.py")).label("names the file")
    c.file_changed("greet.py")

    result = await c.exec("python3 greet.py Ada")
    await c.check(result, command_succeeded()).label("runs").or_stop()
    c.check(result.stdout, includes("Ada")).label("greets Ada")
'''

FILES = {"reeval.config.toml": _CONFIG, "evals/greet.eval.py": _EVAL}
"""Path from the project's root → text."""
