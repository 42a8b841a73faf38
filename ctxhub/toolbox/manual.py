"""Generates docs/mcp-tools.md from the signatures that the tools are built from."""

import json
from collections.abc import Iterator

from ctxhub.toolbox.actions import Action, Tool, all_tools
from ctxhub.toolbox.help import example_of
from ctxhub.toolbox.tool_order import in_order

HEADER = """# The tools

Written by `manage.py document_tools` from the code; do not edit. `!` marks what is required, `[]` a list,
`{}` an object, `a|b` the words an argument knows. Every action also takes `agent` (who speaks) and `session`
(the id or the name of the session that the call belongs to). Whatever answers a list, also inside its answer,
takes `format` (rows or objects), except restore; lists and what is read by `lines` take `max_tokens`. An
argument that is null counts as left out. With `--surface flat` each action is a tool of its own:
`decision_set`. A tool's description only names its actions that are marked as quiet;
help, which lists every action, explains them. At the end: [resources](#resources), [prompts](#prompts),
[completion](#completion) and [progress](#progress).
"""


def render_manual() -> str:
    tools = [all_tools()[name] for name in in_order(all_tools())]
    return "\n".join([HEADER, *(line for tool in tools for line in _tool(tool))])


def _tool(tool: Tool) -> Iterator[str]:
    yield f"## {tool.name}\n\n{tool.summary}\n"
    for action in tool.actions.values():
        yield from _action(tool, action)


def _action(tool: Tool, action: Action) -> Iterator[str]:
    yield f"### {action.call}\n\n{action.doc}\n"
    if action.arguments.all:
        yield f"Arguments: `{action.arguments}`\n"
    yield _scope(action)
    if action.example:
        yield f"```json\n{json.dumps(example_of(action, tool.actions.values()))}\n```\n"


def _scope(action: Action) -> str:
    dry_run = f"; {action.dry_scope} with dry_run" if action.dry_scope else ""
    scope = " or ".join(filter(None, (action.scope, action.or_scope)))
    return f"Scope: {scope}{dry_run}.{' Quiet.' if action.quiet else ''}\n"
