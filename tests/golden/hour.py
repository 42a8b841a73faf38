"""An hour of a project: calls of agents and people one after the other, each written down with its answer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import time_machine
from django.contrib.messages import get_messages
from django.test import Client

from ctxhub.core.accounts.services import agents as touched_agents
from ctxhub.core.accounts.services.access_tokens import forget_tokens
from ctxhub.core.kit.clock import format_time, now
from tests.golden.ids import Ids
from tests.golden.readable import readable
from tests.hub import LiveHub, McpClient

BETWEEN_CALLS = timedelta(seconds=7)
HEADERS = ("etag", "location", "retry-after", "allow")
Json = dict[str, Any]


@dataclass(frozen=True)
class Speaker:
    """An agent by its token, in its project."""

    secret: str
    project: str


class Hour:
    """Who speaks is named by the first argument of each call. Time passes between the calls, never in one."""

    def __init__(
        self,
        clock: time_machine.Traveller,
        hub: LiveHub,
        agents: Mapping[str, Speaker],
        people: Mapping[str, Client],
    ) -> None:
        self.clock, self._hub, self._agents, self._people = clock, hub, agents, people
        self._ids = Ids()
        self._told: list[str] = []
        self.marks: dict[str, str] = {}

    @property
    def text(self) -> str:
        return "\n\n".join(self._told) + "\n"

    def chapter(self, name: str) -> None:
        self._told.append(f"# {name}")

    def mark(self, name: str) -> None:
        """Keep the present time under a name."""
        self.marks[name] = format_time(now())

    def wait(self, **span: float) -> None:
        self.clock.shift(timedelta(**span))

    def tool(self, who: str, tool: str, action: str = "", /, **arguments: Any) -> Json:
        self._begin()
        called = {"action": action, **arguments} if action else arguments
        result = self._mcp(who).result(tool, called)
        answer: Json = json.loads(result["content"][0]["text"])
        failed = " refused" if result["isError"] else ""
        self._tell(f"{who} calls {tool} {action}".strip(), arguments, f"{readable(answer)}{failed}")
        return answer

    def retried(self, who: str, request_id: str, tool: str, action: str, /, **arguments: Any) -> Json:
        """A call with an id of its own, which its repetition has, too."""
        self._begin()
        meta = {"ctxhub/request_id": request_id}
        result = self._mcp(who).result(tool, {"action": action, **arguments}, meta)
        answer: Json = json.loads(result["content"][0]["text"])
        self._tell(f"{who} calls {tool} {action} as {request_id}", arguments, readable(answer, sort=True))
        return answer

    def rest(
        self, who: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        self._begin()
        client = self._hub.rest(self._agents[who].secret, project=self._agents[who].project)
        address = path if path.startswith("/") else f"/api/v1/projects/{client.project}/{path}"
        reply = client.send(method, address, body, headers)
        shown = [f"{name}: {reply.headers[name]}" for name in HEADERS if name in reply.headers]
        said = {**(headers or {}), **({"body": body} if body is not None else {})}
        # An answer that is repeated comes from a table, and PostgreSQL keeps no order of names.
        repeatable = "Idempotency-Key" in (headers or {})
        answer = "\n".join([" ".join([str(reply.status), *shown]), readable(reply.body, sort=repeatable)])
        self._tell(f"{who} {method} {path}", said, answer)
        return reply.body

    def opens(self, who: str, address: str) -> None:
        """A page of the admin: its status, and the rows of a list."""
        self._begin()
        client = self._people[who]
        response = client.get(address)
        listed = response.context.get("cl") if response.context else None
        rows = [str(row) for row in listed.result_list] if listed is not None else []
        self._tell(f"{who} opens {address}", {}, "\n".join([*_outcome(client, response), *rows]))

    def sends(self, who: str, address: str, form: Json) -> None:
        """A form of the admin: where it leads, and what the person is told."""
        self._begin()
        client = self._people[who]
        response = client.post(address, form)
        lines = [*_outcome(client, response), *_form_errors(response)]
        self._tell(f"{who} sends {address}", form, "\n".join(lines))

    def form_of(self, who: str, address: str, /, **changes: Any) -> Json:
        """A form as its page shows it, and what is changed in it."""
        form = self._people[who].get(address).context["adminform"].form
        shown = {name: form[name].value() for name in form.fields}
        return {**{name: value for name, value in shown.items() if value is not None}, **changes}

    def does(self, who: str, what: str, run: Callable[[], object]) -> None:
        """What no face does: a command, a write through the ORM."""
        self._begin()
        answer = run()
        self._tell(f"{who} {what}", {}, answer if isinstance(answer, str) else "done")

    def _mcp(self, who: str) -> McpClient:
        """A connection of its own for each call: the server closes those that rest for seconds."""
        return self._hub.mcp(self._agents[who].secret)

    def _begin(self) -> None:
        """What is done now and then by the clock of the process is done with every call."""
        self.clock.shift(BETWEEN_CALLS)
        touched_agents._touched.clear()
        forget_tokens()
        self._ids.align()

    def _tell(self, call: str, said: Json, answer: str) -> None:
        given = f" {readable(said)}" if said else ""
        self._told.append(f"> {call}{given}\n{answer}")


def _outcome(client: Client, response: Any) -> list[str]:
    """Status, where it leads and what the person is told, which the next page would show."""
    told = [f"{message.level_tag}: {message}" for message in get_messages(response.wsgi_request)]
    client.cookies.pop("messages", None)
    return [f"{response.status_code} {response.headers.get('Location', '')}".strip(), *told]


def _form_errors(response: Any) -> list[str]:
    """What stands beside the fields of a form that comes back."""
    contexts = response.context or {}
    shown = contexts.get("adminform") if "adminform" in contexts else None
    form = shown.form if shown is not None else contexts.get("form") if "form" in contexts else None
    errors = getattr(form, "errors", {})
    return [f"{name}: {' '.join(map(str, said))}" for name, said in errors.items()]
