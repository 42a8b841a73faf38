"""Reads conversations: a text, or the messages of a chat as the APIs of models have them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.kit.text_lists import parse_value
from ctxhub.toolbox.argument_types import About, Checks, Shows
from ctxhub.toolbox.list_conversions import conversion_error

Conversation = str | Sequence[Any] | Mapping[str, Any]
HOW_TO_WRITE = 'Write a text, or messages: [{"role": "user", "content": "Hi."}].'
# Where other APIs have the content of a message.
CONTENT = ("content", "parts", "text")
# What the parts of a message are that are no text; others go by the name of their type.
MARKS = {
    "function_call": "tool call",
    "function_call_output": "tool result",
    "image_url": "image",
    "input_audio": "audio",
    "input_file": "file",
    "input_image": "image",
    "mcp_tool_result": "tool result",
    "mcp_tool_use": "tool call",
    "reasoning": "thinking",
    "redacted_thinking": "thinking",
    "server_tool_use": "tool call",
    "tool_use": "tool call",
}


def _text_or_messages(value: Any) -> Any:
    if isinstance(value, str | list | dict):
        return value
    raise conversion_error("conversation", "must be a text, or a list of messages {role, content}")


SavedConversation = Annotated[
    Conversation,
    Checks(_text_or_messages),
    Shows({"type": "string"}, {"type": ["string", "array"]}),
    About("A text, or messages {role, content}."),
]


def conversation_text(value: Conversation) -> str:
    """The text of a conversation: `role: text` of each message, with a blank line between two.

    Messages may be sent as JSON. What is no text in a message leaves a mark, `[tool call: search]`. Raises
    InvalidInput for what is no message.
    """
    messages = _messages_in(parse_value(value) if isinstance(value, str) else value)
    has_roles = any(isinstance(each, Mapping) and "role" in each for each in messages or ())
    if isinstance(value, str) and not has_roles:
        return value
    if messages is None:
        raise InvalidInput(f"conversation is no message: {shown(value)} has no role.", hint=HOW_TO_WRITE)
    return "\n\n".join(_message(message, f"conversation[{n}]") for n, message in enumerate(messages))


def _messages_in(value: Any) -> Sequence[Any] | None:
    """The messages of a list, of one message, or of the body of a request to a model."""
    if isinstance(value, Mapping):
        listed = [value] if "role" in value else value.get("messages")
        return listed if isinstance(listed, list) else None
    return value if isinstance(value, list | tuple) else None


def _message(message: Any, name: str) -> str:
    if isinstance(message, str):
        return message
    if not isinstance(message, Mapping):
        raise InvalidInput(f"{name} must be a message, not {shown(message)}.", hint=HOW_TO_WRITE)
    role = message.get("role")
    if not isinstance(role, str) or not role.strip():
        raise InvalidInput(f"{name} needs role: a text, such as user.", hint=HOW_TO_WRITE)
    texts = [*_content(message, name), *_calls(message)]
    return f"{' '.join(role.split())}: {chr(10).join(texts)}".rstrip()


def _content(message: Mapping[str, Any], name: str) -> Iterator[str]:
    field = next((field for field in CONTENT if message.get(field) is not None), "content")
    content = message.get(field)
    if content is None and not any(_calls(message)):
        raise InvalidInput(f"{name} needs content: a text, or a list of parts.", hint=HOW_TO_WRITE)
    parts = content if isinstance(content, list | tuple) else [] if content is None else [content]
    for n, part in enumerate(parts):
        yield _part(part, f"{name}.{field}[{n}]" if parts is content else f"{name}.{field}")


def _part(part: Any, name: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or not part:
        raise InvalidInput(
            f"{name} must be a text or a part, not {shown(part)}.",
            hint='Write {"type": "text", "text": "Hi."}.',
        )
    text = part.get("text")
    return text if isinstance(text, str) else _mark(part)


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """The marks of the calls that stand beside the content of a message."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else []:
        yield _mark({"function": call, **call, "type": "tool_use"} if isinstance(call, Mapping) else {})
    if isinstance(call := message.get("function_call"), Mapping):
        yield _mark({**call, "type": "tool_use"})


def _mark(part: Mapping[str, Any]) -> str:
    kind = part.get("type") or next(iter(part), "part")
    word = MARKS.get(str(kind), str(kind).replace("_", " "))
    function = part.get("function")
    named = part.get("name") or (function.get("name") if isinstance(function, Mapping) else None)
    label = f"{word}: {named}" if isinstance(named, str) else word
    return f"[{' '.join(label.split())[:WORD_LENGTH]}]"
