"""The prompt `start`: begins a task with its brief."""

from collections.abc import Mapping
from typing import Any

from ctxhub.mcp.offers.prompt_texts import BACKGROUND, Filling, line, section, text_of
from ctxhub.toolbox.instructions import Sentence

ASK = "Ask your user what the task is, then call brief with it."
STEPS = (
    Sentence("Read whole what bears on the task: ", {"get": "get opens a ref"}),
    Sentence("What is not here may still be there: ", {"search": "search in a sentence"}),
    Sentence(
        "Before you edit files: ",
        {"check": "check them", "file lease": "file lease if others may edit them, too"},
        ", then ",
    ),
    Sentence(
        "Keep what outlives the task: ",
        {"decision set": "decision set with the reason", "memory add": "memory add"},
    ),
    Sentence("Tell whom it concerns: ", {"message send": "message send"}),
    Sentence("Before your window ends: ", {"session save": "session save"}),
)


def text(filling: Filling, arguments: Mapping[str, str]) -> str:
    task = arguments.get("task", "")
    found = filling.ask("brief", **({"task": task} if task else {}))
    return text_of(
        [
            f"Start this task: {task}" if task else ASK,
            BACKGROUND,
            *_sections(found),
            filling.steps(*STEPS),
        ]
    )


def _sections(brief: Mapping[str, Any]) -> list[str]:
    agents = brief.get("agents", {})
    sections = [
        section(each["name"], [_row(*row, agents=agents) for row in each["rows"]])
        for each in brief.get("sections", ())
    ]
    return sections or ["Nothing on it yet."]


def _row(ref: str, text: str, by: str, at: str, *, agents: Mapping[str, str]) -> str:
    return f"{ref}: {line(text)} ({agents.get(by, by)}, {at})"
