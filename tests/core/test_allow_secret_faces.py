"""`allow_secret`: what looks like a credential is stored for administrators who say so, for nobody else."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Event, Project, StoredAnswer
from ctxhub.toolbox.dispatch import call
from memory.decisions.queries import find_decision
from memory.models import Memory, Snapshot
from tests.core.test_secret_formats import some
from tests.memory.pads import pad_of
from tests.people import ADMIN, member

KEY = "ghp" + "_" + some(36)
VALUE = f"Deploy with {KEY}"
TOLD = "Stored although it looks like a credential: value (GitHub token)."
DECISION = {"key": "deploy/token", "value": VALUE}


@pytest.fixture
def admin(apollo: Project) -> Caller:
    return Caller(project=apollo, agent="root")


@pytest.fixture
def writer(apollo: Project) -> Caller:
    return Caller(project=apollo, agent="ada", scopes=frozenset({"read", "write"}))


def over_mcp(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "decision", {"action": "set", **DECISION, **arguments})


def stored(caller: Caller) -> Any:
    row = find_decision(caller.project_id, "deploy/token")
    return row and row.value


FORM = {"title": "Deploying", "content": "x", "context": "general", "type": "note", "importance": "50"}
Rest = Callable[..., tuple[int, dict[str, Any]]]


def rest_of(project: Project, *scopes: str) -> Rest:
    secret = create_token(project=project, agent="root", scopes=scopes).secret

    def send(method: str, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
        response = Client().generic(
            method,
            f"/api/v1/projects/{project.slug}/{path}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )
        return response.status_code, response.json()

    return send


# -- MCP -------------------------------------------------------------------------------------------


def test_the_scope_admin_alone_stores_no_credential(admin: Caller) -> None:
    with pytest.raises(InvalidInput) as refused:
        over_mcp(admin)

    assert "value seems to hold a credential (GitHub token) at character 12" in refused.value.message
    assert "allow_secret:true" in refused.value.hint


@pytest.mark.parametrize("yes", [True, "true", "True"])
def test_an_administrator_who_says_so_stores_it_and_is_told(yes: Any, admin: Caller) -> None:
    answer = over_mcp(admin, allow_secret=yes)

    assert answer["allow_secret"] == TOLD
    assert KEY not in json.dumps(answer)
    assert stored(admin) == VALUE


def test_the_argument_tells_nothing_where_nothing_was_suspicious(admin: Caller) -> None:
    assert "allow_secret" not in over_mcp(admin, value="JWT", allow_secret=True)


def test_without_the_scope_the_argument_is_refused(writer: Caller) -> None:
    with pytest.raises(NotAllowed, match="allow_secret needs the scope 'admin'; yours: read, write"):
        over_mcp(writer, value="JWT", allow_secret=True)
    with pytest.raises(InvalidInput, match="credential"):
        over_mcp(writer, allow_secret=False)


@pytest.mark.parametrize("value", ["yes", 1, [True]])
def test_another_value_of_the_argument_is_refused(value: Any, admin: Caller) -> None:
    with pytest.raises(InvalidInput, match="allow_secret must be true or false"):
        over_mcp(admin, allow_secret=value)


def test_a_read_does_not_take_it(admin: Caller) -> None:
    with pytest.raises(InvalidInput, match="no argument 'allow_secret'"):
        call(admin, "decision", {"action": "list", "allow_secret": True})


def test_help_tells_an_administrator_of_it(admin: Caller, writer: Caller) -> None:
    ask = {"action": "help"}

    assert "allow_secret=true" in call(admin, "decision", ask)["everywhere"]
    assert "allow_secret" not in call(writer, "decision", ask)["everywhere"]


def test_a_batch_takes_it_once_for_all_items(admin: Caller) -> None:
    items = [DECISION, {"key": "other", "value": f"Or with {KEY}"}]

    answer = call(admin, "decision", {"action": "set_batch", "items": items, "allow_secret": True})

    assert (answer["done"], answer["allow_secret"]) == (2, TOLD)


def test_an_append_that_makes_one_with_the_text_before_it_is_stored_and_told(admin: Caller) -> None:
    pad_id = pad_of(admin, KEY[:10])
    append = {"action": "append", "scratchpad_id": pad_id, "content": KEY[10:], "separator": ""}

    with pytest.raises(InvalidInput, match="makes a credential"):
        call(admin, "scratchpad", append)
    assert "GitHub token" in call(admin, "scratchpad", {**append, "allow_secret": True})["allow_secret"]


def test_a_repeated_call_answers_the_same_and_its_stored_answer_holds_no_secret(admin: Caller) -> None:
    arguments = {"action": "set", **DECISION, "allow_secret": True}

    first = call(admin, "decision", arguments, request_id="1")

    assert call(admin, "decision", arguments, request_id="1") == first
    assert KEY not in str(StoredAnswer.unscoped.values())
    assert KEY not in str(Event.unscoped.values())


def test_what_is_masked_otherwise_is_stored_as_it_is(admin: Caller) -> None:
    save = {"action": "save", "content": VALUE, "source": "ada"}

    assert call(admin, "snapshot", save)["masked"] == 1
    assert "content (GitHub token)" in call(admin, "snapshot", {**save, "allow_secret": True})["allow_secret"]
    assert [KEY in row.content for row in Snapshot.unscoped.order_by("pk")] == [False, True]


# -- REST ------------------------------------------------------------------------------------------


def test_rest_takes_it_in_the_body(apollo: Project, admin: Caller) -> None:
    send = rest_of(apollo, "read", "write", "admin")

    status, refusal = send("POST", "decisions/", **DECISION)
    assert (status, "allow_secret:true" in refusal["hint"]) == (400, True)

    status, answer = send("POST", "decisions/", **DECISION, allow_secret=True)
    assert (status, answer["allow_secret"]) == (201, TOLD)
    assert stored(admin) == VALUE


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_changes_over_rest_take_it_too(method: str, apollo: Project) -> None:
    send = rest_of(apollo, "read", "write", "admin")
    send("POST", "decisions/", key="deploy/token", value="JWT")

    status, answer = send(method, "decisions/deploy/token/", value=VALUE, allow_secret=True)

    assert (status, answer.get("allow_secret")) == (200, TOLD)


def test_rest_refuses_it_without_the_scope_and_as_a_text(apollo: Project) -> None:
    send = rest_of(apollo, "read", "write")
    status, refusal = send("POST", "decisions/", **DECISION, allow_secret=True)
    assert (status, refusal["error"]) == (403, "not_allowed")
    assert "allow_secret" in refusal["message"]

    status, refusal = rest_of(apollo, "write", "admin")("POST", "decisions/", **DECISION, allow_secret="true")
    assert (status, "allow_secret" in refusal["message"]) == (400, True)


def test_openapi_shows_it_in_the_bodies_of_writes_alone(client: Client) -> None:
    document = client.get("/api/schema/?format=json").json()
    schemas = document["components"]["schemas"]

    shown = {name for name, schema in schemas.items() if "allow_secret" in schema.get("properties", {})}

    assert {"DecisionSetRequest", "MemoryAddRequest", "MessageSendRequest", "ChangeDecisionRequest"} <= shown
    assert schemas["MemoryAddRequest"]["properties"]["allow_secret"]["type"] == "boolean"


# -- The admin -------------------------------------------------------------------------------------


def test_a_form_offers_an_administrator_to_store_it_after_it_was_refused(apollo: Project) -> None:
    boss = member(apollo, ADMIN, "boss")
    page = f"/admin/memory/memory/add/?project={apollo.slug}"
    values = {**FORM, "content": VALUE}
    assert 'name="allow_secret"' not in boss.get(page).content.decode()

    refused = boss.post(page, values).content.decode()
    assert "Say where the secret is kept instead." in refused
    assert "allow_secret:true" not in refused
    assert re.search(r'<input type="checkbox" name="allow_secret"[^>]*>', refused)

    said = boss.post(page, {**values, "allow_secret": "true"}, follow=True).content.decode()
    assert "Stored although it looks like a credential: content (GitHub token)." in said
    assert Memory.unscoped.get().content == VALUE


def test_a_form_does_not_offer_it_to_another_member(apollo: Project) -> None:
    ann = member(apollo, username="ann")
    page, values = f"/admin/memory/memory/add/?project={apollo.slug}", {**FORM, "content": VALUE}

    assert 'name="allow_secret"' not in ann.post(page, values).content.decode()
    refused = ann.post(page, {**values, "allow_secret": "true"}).content.decode()

    assert "allow_secret needs the scope" in refused
    assert not Memory.unscoped.exists()


def test_a_reply_offers_it_as_well(apollo: Project, writer: Caller) -> None:
    boss = member(apollo, ADMIN, "boss")
    sent = call(writer, "message", {"action": "send", "to": ["boss"], "text": "How do I deploy?"})
    page, reply = f"/admin/messaging/message/{sent['id']}/", {"text": VALUE, "to": "ada"}
    assert 'name="allow_secret"' not in boss.get(page).content.decode()

    assert 'name="allow_secret"' in boss.post(page, reply).content.decode()
    said = boss.post(page, {**reply, "allow_secret": "true"}, follow=True).content.decode()

    assert "Stored although it looks like a credential" in said
