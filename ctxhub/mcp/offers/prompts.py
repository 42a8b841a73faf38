"""Prompts, which clients show as commands: what to do, with what the hub holds for it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ctxhub.core.kit.errors import CtxhubError, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.mcp.list_pages import page_of
from ctxhub.mcp.offers import handoff, review, start
from ctxhub.mcp.offers.asking import may_ask, refusing
from ctxhub.mcp.offers.prompt_texts import Filling
from ctxhub.mcp.requests import Request, Result, Work, naming


@frozen
class Argument:
    name: str
    title: str
    description: str


@frozen
class Prompt:
    """`needs`: the operations without which it is not offered. `text(filling, arguments)` fills it."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    needs: tuple[tuple[str, str], ...]
    text: Callable[[Filling, Mapping[str, str]], str]

    def declared(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": [
                {"name": each.name, "title": each.title, "description": each.description, "required": False}
                for each in self.arguments
            ],
        }


PROMPTS = (
    Prompt(
        "start",
        "Start a task",
        "Begin a task with what the team's hub holds on it.",
        (Argument("task", "Task", "What is to be done, in a sentence, with its paths."),),
        (("brief", ""),),
        start.text,
    ),
    Prompt(
        "handoff",
        "Hand over",
        "Hand over what you are at, so that another agent or your next window can go on.",
        (
            Argument("to", "To", "The agent that goes on; left out: whoever comes next."),
            Argument("session", "Session", "The session to hand over; left out: your last one."),
        ),
        (("session", "save"), ("session", "list")),
        handoff.text,
    ),
    Prompt(
        "review_decisions",
        "Review decisions",
        "Go through the decisions in force, stale ones first, and confirm, change or end them.",
        (
            Argument("layer", "Layer", "Only of this layer."),
            Argument("tags", "Tags", "Only with any of these tags, separated by commas."),
        ),
        (("decision", "list"),),
        review.text,
    ),
)


def offered_prompts(request: Request) -> list[Prompt]:
    return [each for each in PROMPTS if all(may_ask(request, *needed) for needed in each.needs)]


def find_prompt(request: Request, name: str) -> Prompt:
    """Raises InvalidInput for one that the connection is not offered, as if there were none."""
    prompts = {each.name: each for each in offered_prompts(request)}
    if name not in prompts:
        raise unknown_word("prompt", name, list(prompts))
    return prompts[name]


def _list(request: Request) -> Result:
    return page_of(request, "prompts", [each.declared() for each in offered_prompts(request)])


def _get(request: Request) -> Work:
    refuse = refusing(request)
    try:
        prompt = find_prompt(request, request.params["name"])
        arguments = _checked(prompt, request.params.get("arguments") or {})
    except CtxhubError as error:
        refuse(error)
    return Work(partial(_run, request, prompt, arguments), refuse, lambda: False)


def _checked(prompt: Prompt, arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments that say something."""
    known = [each.name for each in prompt.arguments]
    for name in arguments:
        if name not in known:
            raise unknown_word(f"argument of {prompt.name}", name, known)
    return {name: value.strip() for name, value in arguments.items() if value.strip()}


def _run(request: Request, prompt: Prompt, arguments: Mapping[str, str]) -> Result:
    with naming(request.surface):
        text = prompt.text(Filling(request), arguments)
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": prompt.description, "messages": [message]}


ANSWERS: dict[str, Callable[[Request], Result | Work]] = {"prompts/list": _list, "prompts/get": _get}
