"""Every method, right and wrong, in both eras: over both transports the answers are those on record."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.toolbox.tool_list import INSTRUCTIONS, list_tools
from ctxhub.mcp.methods import Surface
from ctxhub.mcp.stdio import StdioServer
from tests.golden.comparing import compare
from tests.mcp.transcript import META, Conversation, Message, conversations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

MARK = {"jsonrpc": "2.0", "id": "mark", "method": "ping"}


def test_stdio_answers_as_on_record(ada: Caller, tmp_path: Path) -> None:
    said = [converse(conversation, ada, tmp_path) for conversation in conversations()]
    compare("mcp_transcript.txt", "\n".join(said))


def converse(conversation: Conversation, caller: Caller, folder: Path) -> str:
    """The conversation over stdio, each message with its answers below it."""
    answers = iter(answers_of(conversation, caller, folder))
    lines = [f"# {conversation.name}"]
    for message in conversation.messages:
        lines.append(f"> {shown(message)}")
        while (answer := next(answers))["id"] != MARK["id"]:
            lines.append(f"< {shown(shortened(answer, caller))}")
    return "\n".join([*lines, ""])


def answers_of(conversation: Conversation, caller: Caller, folder: Path) -> Iterator[Message]:
    sent, written = folder / "sent", folder / "written"
    lines = (f"{as_line(message)}\n{json.dumps(MARK)}\n" for message in conversation.messages)
    sent.write_text("".join(lines), encoding="utf-8")
    with sent.open("rb") as source, written.open("wb") as sink:
        StdioServer(source.fileno(), sink.fileno(), caller, Surface()).serve()
    return map(json.loads, written.read_bytes().splitlines())


def as_line(message: Message | str) -> str:
    return message if isinstance(message, str) else json.dumps(message)


def shown(message: Any) -> str:
    text = json.dumps(message, sort_keys=True, ensure_ascii=False)
    return text.replace(json.dumps(META, sort_keys=True), "META")


def shortened(answer: Message, caller: Caller) -> Message:
    """Other golden files hold the tools and the instructions."""
    result = answer.get("result", {})
    if result.get("tools") == list_tools(caller):
        result["tools"] = "list_tools"
    if result.get("instructions") == INSTRUCTIONS:
        result["instructions"] = "INSTRUCTIONS"
    return answer
