"""405 says what the address takes, and what to do instead."""

from typing import Any

import pytest

from tests.hub import RestClient


@pytest.fixture
def filled(ada_rest: RestClient) -> dict[str, Any]:
    """The ids in the addresses below."""
    workflow = ada_rest.post("workflows/", {"name": "w"}).body["workflow_id"]
    return {
        "constraint": ada_rest.post("constraints/", {"category": "c", "text": "t"}).body["id"],
        "message": ada_rest.post("messages/", {"text": "Hello."}).body["id"],
        "lease": ada_rest.post("leases/", {"paths": ["a"]}).body["lease_id"],
        "pad": ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "p"}).body["scratchpad_id"],
    }


CASES = [
    ("PUT", "constraints/{constraint}/", "GET and PATCH", "PATCH changes its status alone"),
    ("DELETE", "constraints/{constraint}/", "GET and PATCH", '{"status": "inactive"}'),
    ("POST", "constraints/{constraint}/", "GET and PATCH", "POST creates, at the address of the list"),
    ("PATCH", "constraints/", "GET and POST", "add its name or id to the address"),
    ("DELETE", "constraints/", "GET and POST", "/api/docs/"),
    ("GET", "constraints/{constraint}/deactivate/", "POST", "POST, with the arguments as JSON"),
    ("PUT", "scratchpads/{pad}/", "DELETE, GET and PATCH", "replaces the text"),
    ("POST", "scratchpads/{pad}/", "DELETE, GET and PATCH", "append/"),
    ("DELETE", "scratchpads/", "GET and POST", "add its name or id"),
    ("PUT", "messages/{message}/", "GET", "does not change once it is sent"),
    ("PATCH", "messages/{message}/", "GET", "reply_to"),
    ("POST", "messages/{message}/", "GET", "read/, ack/, claim/ or done/"),
    ("DELETE", "messages/{message}/", "GET", "call/hub/clear/"),
    ("GET", "messages/{message}/read/", "POST", "POST, with the arguments as JSON"),
    ("PUT", "leases/{lease}/", "DELETE, GET and PATCH", "PATCH changes what the body names"),
    ("PUT", "stats/", "GET", "/api/docs/"),
]


@pytest.mark.parametrize(("method", "path", "taken", "hint"), CASES, ids=lambda value: str(value)[:30])
def test_it_says_what_to_do_instead(
    ada_rest: RestClient, filled: dict[str, Any], method: str, path: str, taken: str, hint: str
) -> None:
    address = ada_rest._url(path.format(**filled))
    reply = ada_rest.send(method, address, None if method == "GET" else {"text": "x"})
    assert (reply.status, reply.body["error"]) == (405, "invalid")
    assert reply.body["message"] == f"This address takes {taken}, not {method}."
    assert hint in reply.body["hint"]
    allowed = set(reply.headers["allow"].split(", ")) - {"HEAD"}
    assert allowed == set(taken.replace(" and ", ", ").split(", "))


def test_what_it_leads_to_is_taken(ada_rest: RestClient, filled: dict[str, Any]) -> None:
    constraint, pad, message = (filled[name] for name in ("constraint", "pad", "message"))
    assert ada_rest.patch(f"constraints/{constraint}/", {"status": "inactive"}).status == 200
    assert ada_rest.patch(f"scratchpads/{pad}/", {"content": "new"}).status == 200
    assert ada_rest.post(f"scratchpads/{pad}/append/", {"content": "more"}).status == 200
    assert ada_rest.post(f"messages/{message}/read/", {}).status == 200
    assert ada_rest.post("call/hub/clear/", {"dry_run": True}).status == 200
