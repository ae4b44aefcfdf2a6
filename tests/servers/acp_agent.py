"""An agent that speaks the Agent Client Protocol and does what its prompt says: a JSON list of steps.

    ["tell", UPDATE]        a session update
    ["ask", METHOD, PARAMS] a request to the client; what comes back is said as text
    ["say", TEXT]           a piece of its message
    ["say-long", COUNT]     so many letters of it
    ["print", TEXT]         anything on standard output
    ["wait"]                until it is told to cancel
    ["pause", SECONDS]      for so long
    ["sleep"]               for ever, whatever it is told
    ["die", CODE]           its end
    ["error", CODE, TEXT]   its answer to the prompt is an error
    ["stop", REASON]        its answer to the prompt has this reason

Its only argument is JSON: method → result, or ``{"error": …}``, in place of its own answers. What it was asked before
the first prompt it says at ``["heard"]``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

OWN: dict[str, Any] = {
    "initialize": {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1.0"}, "authMethods": []},
    "session/new": {"sessionId": "s1"},
    **(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}),
}
HEARD: list[Any] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    found: dict[str, Any] = json.loads(line)
    return found


def tell(update: dict[str, Any]) -> None:
    send({"method": "session/update", "params": {"sessionId": "s1", "update": update}})


def say(text: str) -> None:
    tell({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})


def ask(method: str, params: Any) -> Any:
    send({"id": "ask", "method": method, "params": params})
    answer = receive()
    return answer.get("result", answer.get("error"))


def echo(method: str, params: Any) -> None:
    say(json.dumps(ask(method, params), sort_keys=True))


def show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def die(code: int) -> None:
    sys.stderr.write("out of luck\n")
    sys.stderr.flush()
    os._exit(code)


def wait() -> dict[str, Any]:
    while receive().get("method") != "session/cancel":
        pass
    return stop("cancelled")


def stop(reason: str) -> dict[str, Any]:
    return {"result": {"stopReason": reason}}


STEPS: dict[str, Any] = {
    "tell": tell,
    "say": say,
    "say-long": lambda count: say("x" * count),
    "ask": echo,
    "heard": lambda: say(json.dumps([*HEARD, os.getpid()])),
    "print": show,
    "wait": wait,
    "pause": time.sleep,
    "sleep": lambda: time.sleep(600),
    "die": die,
    "error": lambda code, message: {"error": {"code": code, "message": message}},
    "stop": stop,
}
"""Those that return something end the prompt so."""


def run(id: Any, steps: list[list[Any]]) -> None:
    answer = stop("end_turn")
    for kind, *rest in steps:
        answer = STEPS[kind](*rest) or answer
    send({"id": id, **answer})


while True:
    asked = receive()
    method, params = asked.get("method", ""), asked.get("params")
    if method == "session/prompt":
        run(asked["id"], json.loads(params["prompt"][0]["text"]))
    elif "id" in asked:
        HEARD.append([method, params])
        own = OWN.get(method, {})
        send({"id": asked["id"], **(own if "error" in own else {"result": own})})
