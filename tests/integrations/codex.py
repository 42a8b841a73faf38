"""The real Codex from npm, installed once into the user's cache; nothing of it is in here."""

from pathlib import Path

from tests import npm

PACKAGE = "@openai/codex"
VERSION = "0.171.0"
# As a person trusts the repository and, with /hooks, its hooks.
TRUSTING = ("--trust", "--dangerously-bypass-hook-trust")
# Edits and commands in a sandbox would need rights that a machine for tests may not give.
EVERYWHERE = "danger-full-access"


def installed_codex() -> Path:
    """Its launcher. Without npm the test is skipped with a warning."""
    return npm.installed(PACKAGE, VERSION, "--ignore-scripts") / "bin" / "codex.js"


def asking(model_url: str) -> tuple[str, ...]:
    """The options with which it asks a stand-in for its model."""
    provider = {"name": "stand-in", "base_url": f"{model_url}/v1", "wire_api": "responses"}
    settings = {"model_provider": "stand-in", "model_providers.stand-in.env_key": "STAND_IN_KEY"}
    settings |= {f"model_providers.stand-in.{name}": value for name, value in provider.items()}
    return tuple(word for name, value in settings.items() for word in ("-c", f'{name}="{value}"'))
