"""MCP and REST behind one interface: a write answers the body, an error has the key `error`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from tests.contract.nouns import Contract, Json
from tests.hub import McpClient, Reply, RestClient


class Face(Protocol):
    def makes_what_it_changes(self, noun: Contract) -> bool:
        """Whether a change of an unknown name makes a new object."""

    def create(self, noun: Contract, fields: Json, *, request: str = "") -> Json: ...

    def batch(self, noun: Contract, items: list[Any], *, request: str = "", **options: Any) -> Json: ...

    def read(self, noun: Contract, name: Any) -> Json: ...

    def list(self, noun: Contract, **query: Any) -> Json:
        """The answer; `items` are the rows as objects."""

    def change(self, noun: Contract, name: Any, fields: Json) -> Json: ...

    def delete(self, noun: Contract, name: Any) -> Json: ...

    def act(self, noun: Contract, name: Any, act: str) -> Json: ...


Open = Callable[..., Face]


@dataclass(frozen=True)
class OverMcp:
    client: McpClient

    def makes_what_it_changes(self, noun: Contract) -> bool:
        return noun.change == noun.create

    def create(self, noun: Contract, fields: Json, *, request: str = "") -> Json:
        return self._write(noun.tool, {"action": noun.create, **fields}, request)

    def batch(self, noun: Contract, items: list[Any], *, request: str = "", **options: Any) -> Json:
        return self._write(noun.tool, {"action": noun.batch, "items": items, **options}, request)

    def read(self, noun: Contract, name: Any) -> Json:
        answer = self.client.call("get", refs=[f"{noun.kind}:{name}"])
        if "error" in answer:
            return answer
        return answer["items"][0] if answer["items"] else {"error": "not_found"}

    def list(self, noun: Contract, **query: Any) -> Json:
        answer = self.client.call(noun.tool, noun.list, **query)
        if "error" in answer:
            return answer
        return {**answer, "items": [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]}

    def change(self, noun: Contract, name: Any, fields: Json) -> Json:
        return self.client.call(noun.tool, noun.change, **{noun.argument: name, **fields})

    def delete(self, noun: Contract, name: Any) -> Json:
        return self.client.call("delete", refs=[f"{noun.kind}:{name}"])

    def act(self, noun: Contract, name: Any, act: str) -> Json:
        return self.client.call(noun.tool, act, **{noun.argument: name})

    def _write(self, tool: str, arguments: Json, request: str) -> Json:
        meta = {"ctxhub/request_id": request} if request else None
        answer: Json = json.loads(self.client.result(tool, arguments, meta)["content"][0]["text"])
        return answer


@dataclass(frozen=True)
class OverRest:
    client: RestClient

    def makes_what_it_changes(self, noun: Contract) -> bool:
        return False

    def create(self, noun: Contract, fields: Json, *, request: str = "") -> Json:
        if noun.has_put:
            rest = {name: value for name, value in fields.items() if name != noun.argument}
            return _body(self.client.put(self._path(noun, fields[noun.argument]), rest, _key(request)), 201)
        return _body(self.client.post(noun.path, fields, _key(request)), 201)

    def batch(self, noun: Contract, items: list[Any], *, request: str = "", **options: Any) -> Json:
        body = {"items": items, **options}
        return _body(self.client.post(f"{noun.path}batch/", body, _key(request)))

    def read(self, noun: Contract, name: Any) -> Json:
        return _body(self.client.get(self._path(noun, name)))

    def list(self, noun: Contract, **query: Any) -> Json:
        sent = {
            name: str(value).lower() if value in (True, False) else value for name, value in query.items()
        }
        reply = self.client.get(noun.path, **sent)
        body = _body(reply)
        assert ("link" in reply.headers) == bool(body.get("next")), reply
        return body

    def change(self, noun: Contract, name: Any, fields: Json) -> Json:
        return _body(self.client.patch(self._path(noun, name), fields))

    def delete(self, noun: Contract, name: Any) -> Json:
        return _body(self.client.delete(self._path(noun, name)), 204)

    def act(self, noun: Contract, name: Any, act: str) -> Json:
        return _body(self.client.post(f"{self._path(noun, name)}{act}/"))

    def _path(self, noun: Contract, name: Any) -> str:
        return f"{noun.path}{quote(str(name), safe='/')}/"


def _key(request: str) -> dict[str, str]:
    return {"Idempotency-Key": request} if request else {}


def _body(reply: Reply, success: int = 200) -> Json:
    body: Json = reply.body or {}
    assert reply.status >= 400 if "error" in body else reply.status == success, reply
    return body
