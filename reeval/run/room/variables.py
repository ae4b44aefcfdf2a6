"""Which variables do the processes of an attempt get?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from reeval.errors import InfrastructureError, Phase
from reeval.schema.environment import Environment, McpServer, Secret

__all__ = ["Recipient", "Variables", "declared_variables", "filled_in", "plain_values", "values_for"]

Recipient = Literal["agent", "checks", "setup"]
Variables = Mapping[str, str | Secret]


def declared_variables(environment: Environment | None, env: Variables) -> dict[str, str | Secret]:
    """Merge an eval's variables with its environment's, which win: they are what a compare varies."""
    return {**env, **environment.env} if environment else dict(env)


def plain_values(variables: Variables) -> dict[str, str]:
    """Return the variables that are no secrets."""
    return {name: value for name, value in variables.items() if isinstance(value, str)}


def values_for(recipient: Recipient, variables: Variables, host: Mapping[str, str]) -> dict[str, str]:
    """Return what ``recipient`` gets. The author's setup commands get every secret.

    Raises ``InfrastructureError`` (phase ``setup``) for a secret that is needed and not set on this host.
    """
    values: dict[str, str] = {}
    for name, value in variables.items():
        if isinstance(value, str):
            values[name] = value
        elif value.to in {recipient, "all"} or recipient == "setup":
            _add_secret(values, name, value, host)
    return values


def filled_in(servers: Mapping[str, McpServer], host: Mapping[str, str]) -> dict[str, McpServer]:
    """Return the MCP servers with the values of their secrets; raises what ``values_for`` raises."""
    return {
        name: replace(
            server,
            env=dict(values_for("setup", server.env, host)),
            headers=dict(values_for("setup", server.headers, host)),
        )
        for name, server in servers.items()
    }


def _add_secret(values: dict[str, str], name: str, secret: Secret, host: Mapping[str, str]) -> None:
    found = host.get(secret.name)
    if found is not None:
        values[name] = found
    elif not secret.optional:
        reason = f"the secret {secret.name} (for {name}) is not set; export it, or declare it with optional=True"
        raise InfrastructureError(Phase.SETUP, reason)
