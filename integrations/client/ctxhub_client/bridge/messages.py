"""Messages of JSON-RPC: what a request is, what HTTP wants to know of it, and answers of the bridge's own."""

from __future__ import annotations

import json
import re

from ctxhub_client.sessions import session_name, with_part
from ctxhub_client.values import dict_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ctxhub_client.values import Json

PARSE_ERROR = -32700
NOT_ANSWERED = -32000

VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
REQUEST_ID = "ctxhub/request_id"
TOOL_USE = "claudecode/toolUseId"
CODEX_TURN = "x-codex-turn-metadata"
CANCELLED = "notifications/cancelled"
CALL = "tools/call"
# What clients say of themselves, and how their hooks and the lines of the hub call them.
CLIENTS = (
    ("claude", "claude"),
    ("codex", "codex"),
    ("cursor", "cursor"),
    ("visual studio code", "vscode"),
    ("vscode", "vscode"),
)
# The parameter that the header Mcp-Name repeats.
NAMED = {CALL: "name", "prompts/get": "name", "resources/read": "uri"}


class Message:
    """What the client sent in a line. `id` is None for what has no answer: notifications, responses."""

    def __init__(self, line: bytes) -> None:
        """Raises ValueError for what is no JSON."""
        try:
            self.value: Any = json.loads(line.decode("utf-8-sig"))
        except RecursionError:
            raise ValueError("nested too deeply") from None
        self.line = line
        value = self.value if isinstance(self.value, dict) else {}
        self.method = value["method"] if isinstance(value.get("method"), str) else ""
        params = value.get("params")
        self.params: Json = params if isinstance(params, dict) else {}
        self.id = value.get("id") if self.method else None
        self.is_batch = isinstance(self.value, list)

    @property
    def expects_answer(self) -> bool:
        """A value that is no message at all is answered by the hub, too: it says what is wrong."""
        is_message = isinstance(self.value, dict) and ("method" in self.value or "jsonrpc" in self.value)
        return self.id is not None or self.is_batch or not is_message

    @property
    def version(self) -> str:
        """The version that a request of the later era names in its envelope; "" in the era of handshakes."""
        version = self._meta.get(VERSION)
        return version if isinstance(version, str) else ""

    @property
    def may_be_repeated(self) -> bool:
        """Whether it does the same when it is sent twice."""
        if self.is_batch:
            return False
        return self.method != CALL or isinstance(self._meta.get(REQUEST_ID), str)

    @property
    def client(self) -> str:
        """The name of the client, as its hooks have it, where it says who it is; else ""."""
        info = self.params.get("clientInfo") if self.method == "initialize" else self._meta.get(CLIENT_INFO)
        said = info.get("name") if isinstance(info, dict) else None
        return client_name(said) if isinstance(said, str) else ""

    @property
    def tool_use(self) -> object:
        """The client's own id of a call, which the hook before it is told, too; None if there is none."""
        return self._meta.get(TOOL_USE)

    @property
    def session(self) -> str:
        """The session whose call it is, where the client says so in each one, as Codex does; else ""."""
        told = dict_of(self._meta, CODEX_TURN)
        session, thread = text_of(told, "session_id"), text_of(told, "thread_id")
        return with_part(session_name("codex", session), thread if thread != session else "")

    @property
    def cancels(self) -> Any:
        """The id of the request that the client no longer waits for; None if this is no such notification."""
        return self.params.get("requestId") if self.method == CANCELLED else None

    @property
    def _meta(self) -> Json:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    def headers(self) -> dict[str, str]:
        """What the later era repeats in headers, so that proxies need not read bodies."""
        if not self.version or self.is_batch:
            return {}
        found = {"Mcp-Protocol-Version": self.version, "Mcp-Method": header(self.method)}
        name = self.params.get(NAMED.get(self.method, ""))
        if isinstance(name, str):
            found["Mcp-Name"] = header(name)
        return found


def client_name(said: str) -> str:
    said = said.strip().lower()
    for part, name in CLIENTS:
        if part in said:
            return name
    return re.sub(r"[^\w.-]+", "-", said, flags=re.ASCII).strip("-")[:60]


def header(text: str) -> str:
    """A text as a header has it; in Base64 if it would be read otherwise there."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?"):
        return text
    from base64 import b64encode

    return "=?base64?{}?=".format(b64encode(text.encode("utf-8", "replace")).decode())


def refusal(message: Message | None, sentence: str, code: int = NOT_ANSWERED) -> bytes:
    """An answer of the bridge's own. A failed call is a result that the model reads."""
    answered: Json = {"jsonrpc": "2.0", "id": None if message is None else message.id}
    if message is not None and message.method == CALL:
        answered["result"] = {"content": [{"type": "text", "text": sentence}], "isError": True}
    else:
        answered["error"] = {"code": code, "message": sentence}
    return compact(answered)


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
