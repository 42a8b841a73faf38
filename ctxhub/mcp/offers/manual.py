"""Generates the end of docs/mcp-tools.md: what is offered besides tools."""

from collections.abc import Iterator

from ctxhub.mcp.event_streams import MOST_OF_LISTENER
from ctxhub.mcp.offers.listening import MOST_URIS
from ctxhub.mcp.offers.prompt_texts import MOST_ROWS
from ctxhub.mcp.offers.prompts import PROMPTS, Prompt
from ctxhub.mcp.offers.resources import SPECIAL, TEMPLATES, opened_kinds
from ctxhub.mcp.offers.uris import INBOX, SCHEME

RESOURCES = """## Resources

What the hub holds, under URIs, as `application/json`: the text is what the tool answers, within the same
limits. To read one is to call that tool: it needs the same scope, counts as a call and as given, and
belongs to the session that `_meta` names. A connection lists what its tools can answer: without `get` there
are no objects.

| URI | what | answered by |
|---|---|---|"""
AFTER_RESOURCES = """
In a URI `%2F` is a slash, as a slash is. A pinned token reads its own inbox alone, others that of the agent
they name. What is not there, or belongs to another project, is an error (-32002, from 2026-07-28 on -32602)
that names what is near. Kinds: {kinds}.
"""
PROMPTS_HEAD = """## Prompts

Clients show them as commands. Each is filled in with what the hub holds: rows cut to a line, at most {most}
of a list. All arguments may be left out; a wrong name or value is an error (-32602) that says what is
allowed.
"""
COMPLETION = """## Completion

Of the arguments of prompts, and of the variables of URIs: `key`, `kind`, `id` (of the `kind` that
`context.arguments` names), `agent`. First what begins so, then what is like it; at most 100 values, `total`
counts to 1,000. `tags` completes the last of several, separated by commas.
"""
PROGRESS = """## Progress

`memory grep` and `snapshot predict` tell how far they are to who sends `_meta.progressToken` with the call:
over stdio by notifications, over HTTP by a stream of events that ends with the answer, if the client names
`text/event-stream` in `Accept`.
"""
SUBSCRIPTIONS = """## Subscriptions

From 2026-07-28 on `subscriptions/listen` tells which of its `resourceSubscriptions` have changed, whoever
changed them, through whichever process of the hub: an inbox when mail has come, any `ctxhub://KIND/ID` and
`ctxhub://decision/KEY`, also one that is not there yet. The acknowledgement names those that are listened to:
`ctxhub://brief` and `ctxhub://layers` are not, nor is the inbox of another agent with a pinned token. At most
{most} URIs a request. Over HTTP the answer is a stream of events, of which a token may have {streams} open;
over stdio notifications come beside other answers. It ends with its result when the hub stops or the token
is revoked: listen again, and read again, as nothing is repeated.
"""


def render_offers() -> str:
    kinds = ", ".join(f"`{kind}`" for kind in opened_kinds())
    lines = [RESOURCES, *_resources(), AFTER_RESOURCES.format(kinds=kinds)]
    lines += [PROMPTS_HEAD.format(most=MOST_ROWS), *(line for prompt in PROMPTS for line in _prompt(prompt))]
    subscriptions = SUBSCRIPTIONS.format(most=MOST_URIS, streams=MOST_OF_LISTENER)
    return "\n".join([*lines, COMPLETION, PROGRESS, subscriptions])


def _resources() -> Iterator[str]:
    for kind, special in SPECIAL.items():
        uri = f"{SCHEME}{kind}" + ("/{agent}" if kind == INBOX else "")
        yield f"| `{uri}` | {special.description} | `{f'{special.tool} {special.action}'.strip()}` |"
    for template, name, _, description in TEMPLATES:
        if name != INBOX:
            yield f"| `{template}` | {description.partition(';')[0].rstrip('.')}. | `get` |"


def _prompt(prompt: Prompt) -> Iterator[str]:
    yield f"### {prompt.name}\n\n{prompt.description}\n"
    yield from (f"- `{each.name}`: {each.description}" for each in prompt.arguments)
    needs = ", ".join(f"`{f'{tool} {action}'.strip()}`" for tool, action in prompt.needs)
    yield f"\nOffered where the client is shown {needs}.\n"
