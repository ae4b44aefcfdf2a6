#!/usr/bin/env python3
"""Scribe: a small coding agent without a model, for the examples.

It reads a prompt on standard input, works in the current directory and prints JSON lines. It understands sentences:

    Write FILE that greets the name it is given.           (FILE: .py, .sh or .js)
    Add function NAME(PARAMETERS) to FILE that returns EXPRESSION.    (FILE: .py)
    Rename OLD to NEW in FILE.
    Show FILE.
    Delete FILE.
    Run `COMMAND`.

It obeys two kinds of line in AGENTS.md, "Start every file with `TEXT`." and "End every answer with `TEXT`.", and, when
it writes something that greets, a skill whose name or description speaks of greeting: "Greet with `Ahoy, NAME!`" and
"call somebody without a name `crew`". What it does not understand it does not do: then it gives up and says so.

Its "tokens" are the words it read and wrote.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SKILL_FOLDERS = (Path(".agents/skills"), Path.home() / ".agents/skills")


class RefusalError(Exception):
    """What was asked cannot be done, and this is why."""


class Report:
    """Prints events, and counts the words that went in and out."""

    def __init__(self) -> None:
        self.read = 0
        self.written = 0

    def event(self, type: str, /, **fields: Any) -> None:
        sys.stdout.write(json.dumps({"type": type, **fields}) + "\n")
        sys.stdout.flush()

    def say(self, text: str) -> None:
        self.written += len(text.split())
        self.event("message", text=text)

    def usage(self) -> None:
        self.event("usage", input=self.read, output=self.written, cost=0.0)


class Scribe:
    """One turn."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.rules = self.load(Path("AGENTS.md")) if Path("AGENTS.md").is_file() else ""

    # --- tools ----------------------------------------------------------------------------------------

    def load(self, path: Path) -> str:
        text = path.read_text(encoding="utf-8")
        self.report.read += len(text.split())
        self.report.event("tool", name="read", input={"path": str(path)}, ok=True)
        return text

    def store(self, path: Path, text: str) -> None:
        kind = "modify" if path.exists() else "create"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.report.written += len(text.split())
        self.report.event("tool", name="edit", input={"path": str(path)}, ok=True)
        self.report.event("edit", path=str(path), kind=kind)

    def greeting_skill(self) -> str:
        """Use the first skill that speaks of greeting; without one there is nothing to read."""
        for folder in SKILL_FOLDERS:
            for path in sorted(folder.glob("*/SKILL.md")):
                text = path.read_text(encoding="utf-8")
                if "greet" in front_matter(text):
                    self.report.read += len(text.split())
                    self.report.event("tool", name="skill", input={"skill": path.parent.name}, ok=True)
                    return text
        return ""

    # --- what it understands --------------------------------------------------------------------------

    def write(self, file: str) -> str:
        path = inside(file)
        make = PROGRAMS.get(path.suffix)
        if make is None:
            raise RefusalError(f"I can write {', '.join(sorted(PROGRAMS))} files, not {file}.")
        skill = self.greeting_skill()
        greeting = quoted(r"(?:Greet with|Say) `([^`]*\bNAME\b[^`]*)`", skill) or "Hello, NAME!"
        nameless = quoted(r"without a name `([^`]+)`", skill) or "world"
        before, _, after = greeting.partition("NAME")
        header = quoted(r"Start every file with `([^`]+)`", self.rules)
        self.store(path, (f"{header}\n" if header else "") + make(before, after, nameless))
        return f"I wrote {file}. It says {json.dumps(greeting, ensure_ascii=False)}."

    def add(self, name: str, parameters: str, file: str, expression: str) -> str:
        path = inside(file)
        if path.suffix != ".py":
            raise RefusalError(f"I can add functions to Python files, not to {file}.")
        text = self.load(path) if path.is_file() else ""
        if re.search(rf"^def {name}\(", text, re.MULTILINE):
            raise RefusalError(f"{file} has a function {name} already.")
        added = f"def {name}({parameters}):\n    return {expression}\n"
        try:
            ast.parse(added)
        except SyntaxError:
            raise RefusalError(f"{name}({parameters}) returning {expression} is not Python.") from None
        self.store(path, f"{text.rstrip()}\n\n\n{added}" if text.strip() else added)
        return f"I added {name} to {file}."

    def rename(self, old: str, new: str, file: str) -> str:
        path = inside(file)
        text, count = re.subn(rf"\b{re.escape(old)}\b", lambda _: new, self.load(path))
        if not count:
            raise RefusalError(f"{file} does not mention {old}.")
        self.store(path, text)
        return f"I renamed {old} to {new} in {file}, {count} times."

    def show(self, file: str) -> str:
        return f"{file} says:\n{self.load(inside(file))}"

    def delete(self, file: str) -> str:
        inside(file).unlink()
        self.report.event("tool", name="edit", input={"path": file}, ok=True)
        self.report.event("edit", path=file, kind="delete")
        return f"I deleted {file}."

    def run(self, command: str) -> str:
        done = subprocess.run(command, shell=True, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        output = (done.stdout + done.stderr).decode("utf-8", "replace")
        self.report.read += len(output.split())
        result = {"output": output, "ok": done.returncode == 0, "exit_code": done.returncode}
        self.report.event("tool", name="shell", input={"command": command}, **result)
        return f"`{command}` ended with {done.returncode}."

    def do(self, sentence: str) -> str:
        for pattern, method in GRAMMAR:
            if found := re.fullmatch(pattern, sentence, re.IGNORECASE):
                try:
                    return method(self, *found.groups())
                except (OSError, UnicodeError) as error:
                    raise RefusalError(f"{sentence!r} cannot be done: {error}") from None
        raise RefusalError(f"I do not understand {sentence!r}.")


FILE = r"([^\s`]*[^\s`.])"
GRAMMAR: tuple[tuple[str, Callable[..., str]], ...] = (
    (rf"Write {FILE} that greets the name it is given\.?", Scribe.write),
    (rf"Add function (\w+)\(([^)]*)\) to {FILE} that returns (.+?)\.?", Scribe.add),
    (rf"Rename (\w+) to (\w+) in {FILE}\.?", Scribe.rename),
    (rf"Show {FILE}\.?", Scribe.show),
    (rf"Delete {FILE}\.?", Scribe.delete),
    (r"Run `([^`]+)`\.?", Scribe.run),
)


def python_program(before: str, after: str, nameless: str) -> str:
    left, right = (part.replace("{", "{{").replace("}", "}}") for part in (before, after))
    greeting = repr(f"{left}{{name}}{right}")
    return f"import sys\n\nname = sys.argv[1] if len(sys.argv) > 1 else {nameless!r}\nprint(f{greeting})\n"


def shell_program(before: str, after: str, nameless: str) -> str:
    left, middle, right = (shlex.quote(part) for part in (before, nameless, after))
    return f'if [ $# -gt 0 ]; then name=$1; else name={middle}; fi\nprintf "%s%s%s\\n" {left} "$name" {right}\n'


def script_program(before: str, after: str, nameless: str) -> str:
    left, middle, right = (json.dumps(part) for part in (before, nameless, after))
    return f"const name = process.argv[2] ?? {middle};\nconsole.log({left} + name + {right});\n"


PROGRAMS = {".py": python_program, ".sh": shell_program, ".js": script_program}


def inside(file: str) -> Path:
    path = Path(file)
    if path.is_absolute() or ".." in path.parts:
        raise RefusalError(f"{file} is outside of my workspace.")
    return path


def quoted(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found[1] if found else None


def front_matter(text: str) -> str:
    """Return name and description of a skill, in small letters."""
    found = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    return found[1].lower() if found else ""


def sentences(prompt: str) -> list[str]:
    """Split at line ends, and between a sentence's end and a capital letter; commands in backticks stay whole."""
    found = re.findall(r"(?:`[^`\n]*`|[^\n`])+?(?:[.!](?=\s+[A-Z])|(?=\n)|$)", prompt)
    asked = [sentence.strip() for sentence in found if sentence.strip()]
    if not asked:
        raise RefusalError("I was asked for nothing.")
    return asked


def main() -> None:
    report = Report()
    report.event("model", name="scribe-1")
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    report.read += len(prompt.split())
    try:
        asked = sentences(prompt)
        scribe = Scribe(report)
        answers = [scribe.do(sentence) for sentence in asked]
        ending = quoted(r"End every answer with `([^`]+)`", scribe.rules)
        report.say("\n".join([*answers, ending] if ending else answers))
    except RefusalError as reason:
        report.event("error", message=str(reason))
    report.usage()
    report.event("done")


if __name__ == "__main__":
    main()
