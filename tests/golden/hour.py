"""Records an hour of a project: calls of agents and people in order, each with its answer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import time_machine
from django.contrib.messages import get_messages
from django.test import Client

from ctxhub.core.accounts import agents as touched_agents
from ctxhub.core.accounts.access_tokens import forget_tokens
from ctxhub.core.kit.clock import format_time, now
from tests.golden.ids import Ids
from tests.golden.readable import readable
from tests.hub import LiveHub, McpClient

BETWEEN_CALLS = timedelta(seconds=7)
HEADERS = ("etag", "location", "retry-after", "allow")
Json = dict[str, Any]


@dataclass(frozen=True)
class AgentToken:
    """The token and the project of an agent."""

    secret: str
    project: str


class Hour:
    """The first argument of each call names the agent or person. Time passes only between calls."""

    def __init__(
        self,
        clock: time_machine.Traveller,
        hub: LiveHub,
        agents: Mapping[str, AgentToken],
        people: Mapping[str, Client],
    ) -> None:
        self.clock, self._hub, self._agents, self._people = clock, hub, agents, people
        self._ids = Ids()
        self._entries: list[str] = []
        self.marks: dict[str, str] = {}

    @property
    def text(self) -> str:
        return "\n\n".join(self._entries) + "\n"

    def chapter(self, name: str) -> None:
        self._entries.append(f"# {name}")

    def join(self, name: str, token: AgentToken) -> None:
        """Let another agent take part from now on."""
        self._agents = {**self._agents, name: token}

    def mark(self, name: str) -> None:
        """Store the present time under a name."""
        self.marks[name] = format_time(now())

    def wait(self, **span: float) -> None:
        self.clock.shift(timedelta(**span))

    def tool(self, who: str, tool: str, action: str = "", /, **arguments: Any) -> Json:
        self._prepare()
        called = {"action": action, **arguments} if action else arguments
        result = self._mcp(who).result(tool, called)
        answer: Json = json.loads(result["content"][0]["text"])
        failed = " refused" if result["isError"] else ""
        self._record(f"{who} calls {tool} {action}".strip(), arguments, f"{readable(answer)}{failed}")
        return answer

    def retried(self, who: str, request_id: str, tool: str, action: str, /, **arguments: Any) -> Json:
        """A tool call with a request id, so that a repetition gets the same answer."""
        self._prepare()
        meta = {"ctxhub/request_id": request_id}
        result = self._mcp(who).result(tool, {"action": action, **arguments}, meta)
        answer: Json = json.loads(result["content"][0]["text"])
        self._record(f"{who} calls {tool} {action} as {request_id}", arguments, readable(answer, sort=True))
        return answer

    def rest(
        self, who: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        self._prepare()
        client = self._hub.rest(self._agents[who].secret, project=self._agents[who].project)
        address = path if path.startswith("/") else f"/api/v1/projects/{client.project}/{path}"
        reply = client.send(method, address, body, headers)
        shown = [f"{name}: {reply.headers[name]}" for name in HEADERS if name in reply.headers]
        request = {**(headers or {}), **({"body": body} if body is not None else {})}
        # A repeated answer comes from a JSON column, and PostgreSQL does not keep the order of keys.
        repeatable = "Idempotency-Key" in (headers or {})
        answer = "\n".join([" ".join([str(reply.status), *shown]), readable(reply.body, sort=repeatable)])
        self._record(f"{who} {method} {path}", request, answer)
        return reply.body

    def opens(self, who: str, address: str) -> None:
        """Open a page of the admin; record its status and the rows of a list."""
        self._prepare()
        client = self._people[who]
        response = client.get(address)
        listed = response.context.get("cl") if response.context else None
        rows = [str(row) for row in listed.result_list] if listed is not None else []
        self._record(f"{who} opens {address}", {}, "\n".join([*_outcome(client, response), *rows]))

    def sends(self, who: str, address: str, form: Json) -> None:
        """Submit a form of the admin; record the redirect, the messages and the errors."""
        self._prepare()
        client = self._people[who]
        response = client.post(address, form)
        lines = [*_outcome(client, response), *_form_errors(response)]
        self._record(f"{who} sends {address}", form, "\n".join(lines))

    def form_of(self, who: str, address: str, /, **changes: Any) -> Json:
        """The values of the form on a page, with changes."""
        form = self._people[who].get(address).context["adminform"].form
        shown = {name: form[name].value() for name in form.fields}
        return {**{name: value for name, value in shown.items() if value is not None}, **changes}

    def does(self, who: str, what: str, run: Callable[[], object]) -> None:
        """Run something without an interface of its own: a command or a write through the ORM."""
        self._prepare()
        answer = run()
        self._record(f"{who} {what}", {}, answer if isinstance(answer, str) else "done")

    def _mcp(self, who: str) -> McpClient:
        """A new connection for each call: the server closes connections that are idle for seconds."""
        return self._hub.mcp(self._agents[who].secret)

    def _prepare(self) -> None:
        """Let time pass, and reset caches, so that every call does what is otherwise done once in a while."""
        self.clock.shift(BETWEEN_CALLS)
        touched_agents._touched.clear()
        forget_tokens()
        self._ids.align()

    def _record(self, call: str, request: Json, answer: str) -> None:
        given = f" {readable(request)}" if request else ""
        self._entries.append(f"> {call}{given}\n{answer}")


def _outcome(client: Client, response: Any) -> list[str]:
    """Status, redirect and messages, which would otherwise be shown on the next page."""
    messages = [f"{message.level_tag}: {message}" for message in get_messages(response.wsgi_request)]
    client.cookies.pop("messages", None)
    return [f"{response.status_code} {response.headers.get('Location', '')}".strip(), *messages]


def _form_errors(response: Any) -> list[str]:
    """The errors of a form that is shown again."""
    contexts = response.context or {}
    shown = contexts.get("adminform") if "adminform" in contexts else None
    form = shown.form if shown is not None else contexts.get("form") if "form" in contexts else None
    errors = getattr(form, "errors", {})
    return [f"{name}: {' '.join(map(str, messages))}" for name, messages in errors.items()]
