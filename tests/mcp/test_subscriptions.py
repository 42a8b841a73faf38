"""`subscriptions/listen` over HTTP and stdio: what a client is told, and of what it never is."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.subscriptions import ResourceUpdated

from ctxhub.core.accounts.access_tokens import create_token, find_token, revoke_token
from ctxhub.core.kit.caller import READ, WRITE, Caller
from ctxhub.core.models import Project
from ctxhub.mcp import event_streams, pipe_subscriptions
from memory.decisions.services import change_decision, set_decision
from memory.memories.services import add_memory, update_memory
from messaging.messages.services import acknowledge_messages, send_message
from tests.hub import LiveHub
from tests.integrations.bridges import bridge
from tests.mcp.test_event_streams_of_processes import ready, token, write  # noqa: F401
from tests.stdio import StdioClient, command, environment, stdio_hub
from tests.streams import ask, wait_for_streams

MODERN = "2026-07-28"
METHOD = "subscriptions/listen"
PREFIX = "io.modelcontextprotocol/"
META = {
    f"{PREFIX}protocolVersion": MODERN,
    f"{PREFIX}clientInfo": {"name": "tests", "version": "1"},
    f"{PREFIX}clientCapabilities": {},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "Mcp-Protocol-Version": MODERN,
    "Mcp-Method": METHOD,
}
ID = 7

Message = dict[str, Any]


def asking(uris: list[str] | None, request_id: int = ID, **flags: bool) -> Message:
    asked = {**flags, **({} if uris is None else {"resourceSubscriptions": uris})}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": METHOD,
        "params": {"notifications": asked, "_meta": META},
    }


def acknowledged(*uris: str) -> Message:
    return {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "notifications": {"resourceSubscriptions": [*uris]} if uris else {},
            "_meta": {f"{PREFIX}subscriptionId": ID},
        },
    }


def updated(uri: str) -> Message:
    return {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": uri, "_meta": {f"{PREFIX}subscriptionId": ID}},
    }


@dataclass
class Listener:
    """The first message, and the next ones."""

    first: Message
    next: Callable[[], Message]

    def told(self, count: int = 1) -> list[str]:
        messages = [self.next() for _ in range(count)]
        assert messages == [updated(message["params"]["uri"]) for message in messages]
        return [message["params"]["uri"] for message in messages]


@contextmanager
def over_http(hub: LiveHub, secret: str, message: Message) -> Iterator[Listener]:
    stream = ask(hub, "/mcp", secret, HEADERS, "POST", json.dumps(message).encode())
    try:
        assert stream.status == 200, stream.response.read()
        assert stream.response.getheader("Content-Type") == "text/event-stream"
        stream.start()
        yield Listener(stream.beginning.data, lambda: stream.next().data)
    finally:
        stream.close()


@contextmanager
def over_stdio(message: Message, *options: str) -> Iterator[Listener]:
    with stdio_hub("--project", "apollo", "--agent", "ada", *options) as client:
        yield opened(client, message)


@contextmanager
def over_bridge(hub: LiveHub, secret: str, message: Message) -> Iterator[Listener]:
    with bridge(hub, secret) as client:
        yield opened(client, message)


def opened(client: StdioClient, message: Message) -> Listener:
    client.write(json.dumps(message).encode())
    return Listener(client.read(), client.read)


Open = Callable[..., AbstractContextManager[Listener]]


@pytest.fixture(autouse=True)
def all_are_closed() -> Iterator[None]:
    yield
    wait_for_streams(0)


@pytest.fixture(params=["http", "stdio", "bridge"])
def listen(request: Any, hub: LiveHub, ada_token: str) -> Open:
    def open_(*uris: str, **flags: bool) -> AbstractContextManager[Listener]:
        asked = asking([*uris], **flags)
        ways = {
            "http": lambda: over_http(hub, ada_token, asked),
            "stdio": lambda: over_stdio(asked),
            "bridge": lambda: over_bridge(hub, ada_token, asked),
        }
        return ways[request.param]()

    return open_


# -- What is told ----------------------------------------------------------------------------------


def test_a_change_of_a_decision_is_told_once(listen: Open, ben: Caller) -> None:
    uri = "ctxhub://decision/api/auth"
    with listen(uri) as listener:
        assert listener.first == acknowledged(uri)
        set_decision(caller=ben, key="api", value="other")
        set_decision(caller=ben, key="api/auth", value="JWT")
        assert listener.told() == [uri]
        change_decision(caller=ben, key="api/auth", value="JWE")
        assert listener.told() == [uri]


def test_own_changes_are_told_as_well(listen: Open, ada: Caller) -> None:
    """What another window of the agent has changed is stale in this one."""
    with listen("ctxhub://decision/own") as listener:
        set_decision(caller=ada, key="own", value=1)
        assert listener.told() == ["ctxhub://decision/own"]


def test_uris_are_told_as_they_were_written(listen: Open, ben: Caller) -> None:
    uris = ["ctxhub://decision/api%2Fauth", "CTXHUB://Decision/api/auth"]
    with listen(*uris) as listener:
        set_decision(caller=ben, key="api/auth", value="JWT")
        assert listener.told(2) == uris


def test_mail_to_the_agent_and_to_everyone_changes_its_inbox(listen: Open, ada: Caller, ben: Caller) -> None:
    uri = "ctxhub://inbox/Ada"
    mine = send_message(caller=ada, text="From her.", to=["ben"])
    with listen(uri) as listener:
        assert listener.first == acknowledged(uri)
        send_message(caller=ben, text="For Cid.", to=["cid"])
        acknowledge_messages(caller=ben, ids=[mine["id"]])
        set_decision(caller=ben, key="k", value=1)
        send_message(caller=ben, text="For Ada.", to=["ada"])
        assert listener.told() == [uri]
        send_message(caller=ben, text="For all.")
        assert listener.told() == [uri]


def test_each_kind_that_opens_can_be_listened_to(listen: Open, ben: Caller) -> None:
    memory = add_memory(caller=ben, title="One", content="Something to keep.")["id"]
    uris = [f"ctxhub://{kind}/1" for kind in ("constraint", "message", "scratchpad", "session", "snapshot")]
    with listen(*uris, f"ctxhub://memory/{memory}") as listener:
        assert listener.first == acknowledged(*uris, f"ctxhub://memory/{memory}")
        update_memory(caller=ben, memory_id=memory, content="Something else.")
        assert listener.told() == [f"ctxhub://memory/{memory}"]


def test_what_never_changes_is_left_out_of_the_acknowledgement(listen: Open) -> None:
    never = ("ctxhub://layers", "ctxhub://brief", "ctxhub://nonsense/1", "https://example.com/", "decision:k")
    with listen("ctxhub://decision/k", *never, "ctxhub://decision/", "", toolsListChanged=True) as listener:
        assert listener.first == acknowledged("ctxhub://decision/k")


def test_nothing_of_another_project_is_told(listen: Open, ben: Caller, cy: Caller) -> None:
    """Nor is a key there told apart from one that does not exist."""
    set_decision(caller=cy, key="k", value=1)
    with listen("ctxhub://decision/k", "ctxhub://inbox/ada", "ctxhub://decision/nowhere") as listener:
        assert len(listener.first["params"]["notifications"]["resourceSubscriptions"]) == 3
        set_decision(caller=cy, key="k", value=2)
        send_message(caller=cy, text="For all.")
        set_decision(caller=ben, key="nowhere", value=1)
        assert listener.told() == ["ctxhub://decision/nowhere"]


# -- Who may ---------------------------------------------------------------------------------------


def test_a_pinned_token_hears_of_its_own_inbox_alone(hub: LiveHub, ada_token: str, apollo: Project) -> None:
    uris = ["ctxhub://inbox/ada", "ctxhub://inbox/ben"]
    with over_http(hub, ada_token, asking(uris)) as listener:
        assert listener.first == acknowledged("ctxhub://inbox/ada")
    free = create_token(project=apollo, name="any").secret
    with over_http(hub, free, asking(uris)) as listener:
        assert listener.first == acknowledged(*uris)


def test_it_needs_the_scope_read(hub: LiveHub, apollo: Project) -> None:
    secret = create_token(project=apollo, name="writer", scopes=[WRITE]).secret
    stream = ask(hub, "/mcp", secret, HEADERS, "POST", json.dumps(asking(["ctxhub://decision/k"])).encode())
    error = json.loads(stream.response.read())["error"]
    assert (stream.status, error["code"]) == (400, -32602)
    assert error["message"] == "subscriptions/listen needs the scope 'read'; yours: write."
    stream.close()


def test_a_revoked_token_ends_it_with_its_result(hub: LiveHub, apollo: Project) -> None:
    made = create_token(project=apollo, name="soon revoked", scopes=[READ])
    with over_http(hub, made.secret, asking(["ctxhub://decision/k"])) as listener:
        revoke_token(find_token(made.secret))  # type: ignore[arg-type]
        last = listener.next()
    assert (last["id"], last["result"]["resultType"]) == (ID, "complete")
    assert last["result"]["_meta"][f"{PREFIX}subscriptionId"] == ID


# -- What is refused -------------------------------------------------------------------------------


def refused(hub: LiveHub, secret: str, message: Message, **headers: str) -> tuple[int, Message]:
    stream = ask(hub, "/mcp", secret, {**HEADERS, **headers}, "POST", json.dumps(message).encode())
    answer = json.loads(stream.response.read())
    stream.close()
    return stream.status, answer["error"]


@pytest.mark.parametrize("uris", ["ctxhub://decision/k", [1], {"a": 1}])
def test_wrong_subscriptions_are_told(hub: LiveHub, ada_token: str, uris: Any) -> None:
    status, error = refused(hub, ada_token, asking(uris))
    assert (status, error["code"]) == (400, -32602)
    assert "resourceSubscriptions" in error["message"]


def test_too_many_are_refused(hub: LiveHub, ada_token: str) -> None:
    status, error = refused(hub, ada_token, asking([f"ctxhub://decision/{n}" for n in range(101)]))
    assert (status, error["code"]) == (400, -32602)
    assert error["message"] == "resourceSubscriptions has 101 entries; at most 100 are allowed."


def test_a_client_that_takes_no_stream_is_told(hub: LiveHub, ada_token: str) -> None:
    status, error = refused(hub, ada_token, asking(["ctxhub://decision/k"]), Accept="application/json")
    assert status == 406
    assert "text/event-stream" in error["message"]


def test_the_earlier_era_has_no_such_method(hub: LiveHub, ada_token: str) -> None:
    reply = hub.mcp(ada_token).rpc(METHOD, {"notifications": {}})
    assert reply["error"]["code"] == -32601


def test_streams_of_a_token_are_limited(hub: LiveHub, ada_token: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(event_streams, "MOST_OF_LISTENER", 1)
    with over_http(hub, ada_token, asking(["ctxhub://decision/k"])):
        status, error = refused(hub, ada_token, asking(["ctxhub://decision/k"]))
    assert status == 429
    assert error["message"].startswith("You have 1 event streams open")


# -- Over stdio ------------------------------------------------------------------------------------


@pytest.fixture
def client(hub: LiveHub, ada: Caller) -> Iterator[StdioClient]:
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        yield client


def cancel(client: StdioClient, request_id: int | str) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    client.write(json.dumps(note).encode())


@pytest.mark.parametrize("request_id", [ID, str(ID)])
def test_calls_go_on_beside_it_and_a_cancelled_one_is_silent(
    client: StdioClient, ben: Caller, request_id: int | str
) -> None:
    listener = opened(client, asking(["ctxhub://decision/k"]))
    set_decision(caller=ben, key="k", value=1)
    assert listener.told() == ["ctxhub://decision/k"]
    cancel(client, request_id)
    assert client.request("tools/list", {"_meta": META})["result"]["tools"]
    set_decision(caller=ben, key="k", value=2)
    other = opened(client, asking(["ctxhub://decision/other"], request_id=ID + 1))
    assert other.first["params"]["_meta"][f"{PREFIX}subscriptionId"] == ID + 1
    set_decision(caller=ben, key="other", value=1)
    assert client.read()["params"]["uri"] == "ctxhub://decision/other"


def test_those_of_a_connection_are_limited(client: StdioClient) -> None:
    for number in range(pipe_subscriptions.MOST):
        assert "method" in opened(client, asking(["ctxhub://decision/k"], request_id=number)).first
    refusal = opened(client, asking(["ctxhub://decision/k"], request_id=99)).first
    assert refusal["error"]["message"] == "20 subscriptions are open, which is the most. Cancel one."
    cancel(client, 3)
    assert "method" in opened(client, asking(["ctxhub://decision/k"], request_id=99)).first


def test_it_ends_with_the_connection(client: StdioClient) -> None:
    opened(client, asking(["ctxhub://decision/k"]))
    out, err, code = client.finish()
    assert (out, err, code) == (b"", b"", 0)


# -- Of several processes, and with the client of the SDK ------------------------------------------


def test_what_another_process_writes_is_told(ready: Any, token: str) -> None:  # noqa: F811
    uri = "ctxhub://decision/of/another"
    with (
        ready.serving("--port", "0") as one,
        ready.serving("--port", "0") as other,
        over_http(one.hub, token, asking([uri])) as listener,
    ):
        write(other, token, "of/another")
        assert listener.told() == [uri]


def test_a_hub_that_ends_answers_before(ready: Any, token: str) -> None:  # noqa: F811
    with (
        ready.serving("--port", "0") as server,
        over_http(server.hub, token, asking(["ctxhub://decision/k"])) as listener,
    ):
        server.process.terminate()
        last = listener.next()
    assert (last["id"], last["result"]["resultType"]) == (ID, "complete")


@pytest.mark.one_engine
@pytest.mark.parametrize("way", ["http", "stdio"])
def test_the_client_of_the_sdk_listens(hub: LiveHub, ada_token: str, ben: Caller, way: str) -> None:
    uri = "ctxhub://decision/api/auth"

    async def session(client: Client) -> None:
        async with client.listen(resource_subscriptions=[uri, "ctxhub://layers"]) as subscription:
            assert subscription.honored.resource_subscriptions == [uri]
            await anyio.to_thread.run_sync(lambda: set_decision(caller=ben, key="api/auth", value="JWT"))
            event = await anext(aiter(subscription))
            assert event == ResourceUpdated(uri=uri)

    async def over_http_() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {ada_token}"}) as http,
            Client(streamable_http_client(f"{hub.url}/mcp", http_client=http)) as client,
        ):
            await session(client)

    async def over_stdio_() -> None:
        [program, *arguments] = command("--project", "apollo", "--agent", "ada")
        at = StdioServerParameters(command=program, args=arguments, env=environment())
        async with Client(at) as client:
            await session(client)

    anyio.run(over_http_ if way == "http" else over_stdio_)
