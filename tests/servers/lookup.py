"""An MCP server over standard input and output: its one tool answers with its argument and ``$WORD``."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

TOOL = {
    "name": "lookup",
    "description": "Look up the code of a thing.",
    "inputSchema": {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]},
}


def result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        server = {"name": "demo", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        text = f"{params['arguments']['thing']}-{os.environ.get('WORD', '?')}"
        return {"content": [{"type": "text", "text": text}], "isError": False}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer = {
            "jsonrpc": "2.0",
            "id": message["id"],
            "result": result(message["method"], message.get("params") or {}),
        }
        print(json.dumps(answer), flush=True)  # noqa: T201
