"""A scripted stand-in for a model's Responses API, so that the real Codex runs without a model."""

import json
from collections.abc import Iterator
from typing import Any

from tests.integrations.model_stand_in import Block, Handler

USAGE = {
    "input_tokens": 1,
    "output_tokens": 1,
    "total_tokens": 2,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def patch(text: str) -> Block:
    return {"type": "tool_use", "name": "apply_patch", "text": text}


def run(tool: str, **arguments: Any) -> Block:
    """A call in the script that newer models write instead of calling tools."""
    return {"type": "tool_use", "name": "exec", "text": f"text(await tools.{tool}({json.dumps(arguments)}))"}


class ResponsesHandler(Handler):
    def answer(self, body: dict[str, Any]) -> None:
        block, turn = self.stand_in.answer(body)
        response = {"id": f"resp_{turn}", "object": "response", "created_at": 1, "model": body.get("model")}
        lines = (
            f"event: {one['type']}\ndata: {json.dumps({**one, 'sequence_number': number})}\n\n"
            for number, one in enumerate(_events(response, _item(block, turn)))
        )
        self.reply("".join(lines).encode(), "text/event-stream")


def _item(block: Block, turn: int) -> dict[str, Any]:
    """The block as Codex knows it: tools of MCP servers are functions with a namespace."""
    if block["type"] == "text":
        content = [{"type": "output_text", "text": block["text"], "annotations": []}]
        item: dict[str, Any] = {"type": "message", "role": "assistant", "content": content}
    elif "text" in block:
        item = {"type": "custom_tool_call", "name": block["name"], "input": block["text"]}
    else:
        namespace, _, name = block["name"].rpartition("__")
        item = {"type": "function_call", "name": name, "arguments": json.dumps(block["input"])}
        item |= {"namespace": namespace} if namespace else {}
    called = {} if block["type"] == "text" else {"call_id": f"call_{turn}"}
    return {**item, **called, "id": f"item_{turn}", "status": "completed"}


def _events(response: dict[str, Any], item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The response as the events of a stream."""
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {**response, "status": "completed", "output": [item], "usage": USAGE}
    yield {"type": "response.completed", "response": done}
