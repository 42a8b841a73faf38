"""No credential is stored in a pad, whole or in pieces. The test values are joined at run time."""

from dataclasses import replace
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project
from memory.scratchpads.services import append_to_scratchpad, restore_scratchpad, update_scratchpad
from tests.hub import McpClient, RestClient
from tests.memory.pads import content_of, pad_of
from tests.tables import dump_project

PASSWORD = "hunter" + "2-Blue9"
KEY = "ghp_" + "a1B2" * 9
FAR = "An ordinary line of a long pad.\n" * 2_000

FORMS = {
    "variable": f"DB_PASSWORD={PASSWORD}",
    "secret": "secret=" + "abcd1234" + "efgh5678",
    "client secret": "client_secret: '" + "k9f2m" + "slq01'",
    "login": "Authorization: Basic " + "YWRhOmh1bn" + "RlcjItQmx1ZTk=",
    "assignment": f'password = "{PASSWORD}"',
    "AWS": "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYZZZZZZZKEY",
    "sentence": f"The root password is {PASSWORD}, so that you can log in.",
}
# The end of the pad, the separator and the appended text.
PIECES = {
    "a key": (KEY[:12], "", KEY[12:]),
    "a value behind its name": ("DB_PASSWORD=", "", PASSWORD),
    "a sentence": ("The root password is", "\n\n", PASSWORD),
    "a name in the separator": ("", " password = ", PASSWORD),
    "the end of a long pad": (f"{FAR}postgres://ada:", "", f"{PASSWORD}@db/hub"),
    "behind what is not ASCII": (f"{'密碼在別處。' * 3_000}password = ", "", PASSWORD),
    "a long web token": (f"eyJhbGciOiJIUzI1NiJ9.{'abCD12' * 1_000}", "", f".{'xY3' * 15}"),
}

every_form = pytest.mark.parametrize("form", FORMS)
every_pair = pytest.mark.parametrize("pair", PIECES)


# -- Appends ---------------------------------------------------------------------------------------


@every_pair
def test_two_appends_do_not_make_a_credential(ada: Caller, apollo: Project, pair: str) -> None:
    first, separator, second = PIECES[pair]
    pad_id = pad_of(ada, "begun ")
    append_to_scratchpad(caller=ada, scratchpad_id=pad_id, content=first or "more", separator="")
    before = dump_project(apollo)

    with pytest.raises(InvalidInput, match=r"makes a credential \(.*\) with the text beside it"):
        append_to_scratchpad(caller=ada, scratchpad_id=pad_id, content=second, separator=separator)

    assert dump_project(apollo) == before


def test_an_append_to_an_empty_pad_has_no_separator(ada: Caller) -> None:
    pad_id = pad_of(ada)

    append_to_scratchpad(caller=ada, scratchpad_id=pad_id, content=PASSWORD, separator="password = ")

    assert content_of(pad_id) == PASSWORD


def test_an_administrator_may_complete_a_credential(ada: Caller) -> None:
    pad_id = pad_of(ada, "DB_PASSWORD=")
    keeper = replace(ada, keeps_secrets=True)

    append_to_scratchpad(caller=keeper, scratchpad_id=pad_id, content=PASSWORD, separator="")

    assert content_of(pad_id) == FORMS["variable"]


@pytest.mark.parametrize("separator", ["\n\n", "\n", " ", ""])
def test_a_stored_credential_does_not_block_appends(ada: Caller, separator: str) -> None:
    pad_id = pad_of(replace(ada, keeps_secrets=True), f"Deploy with {KEY}")

    append_to_scratchpad(caller=ada, scratchpad_id=pad_id, content=", tomorrow", separator=separator)

    assert content_of(pad_id).endswith(", tomorrow")


# -- Edits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("password:\nhost: db", {"mode": "insert", "line": 2, "content": f"  {PASSWORD}"}),
        (f"host:\n  {PASSWORD}", {"mode": "replace_lines", "line": 1, "content": "password:"}),
        (f"password:\nsee the vault\n{PASSWORD}", {"mode": "replace_lines", "line": 2, "content": ""}),
        ("# Access\nThe password is", {"mode": "append_section", "section": "Access", "content": PASSWORD}),
    ],
)
def test_an_edit_does_not_make_a_credential(
    ada: Caller, apollo: Project, text: str, arguments: dict[str, Any]
) -> None:
    pad_id = pad_of(ada, f"{FAR}{text}")
    arguments = {name: value + 2_000 if name == "line" else value for name, value in arguments.items()}
    before = dump_project(apollo)

    with pytest.raises(InvalidInput, match="makes a credential"):
        update_scratchpad(caller=ada, scratchpad_id=pad_id, **arguments)

    assert dump_project(apollo) == before


def test_a_line_beside_a_stored_credential_can_be_edited(ada: Caller) -> None:
    pad_id = pad_of(replace(ada, keeps_secrets=True), f"one\n{FORMS['variable']}\nthree\n{KEY}")
    for line in (1, 3):
        update_scratchpad(caller=ada, scratchpad_id=pad_id, content="new", mode="replace_lines", line=line)

    assert content_of(pad_id) == f"new\n{FORMS['variable']}\nnew\n{KEY}"


def test_a_revision_with_a_credential_can_be_restored(ada: Caller) -> None:
    pad_id = pad_of(replace(ada, keeps_secrets=True), FORMS["variable"])
    update_scratchpad(caller=ada, scratchpad_id=pad_id, content="")

    restore_scratchpad(caller=ada, scratchpad_id=pad_id, revision=1)

    assert content_of(pad_id) == FORMS["variable"]


# -- MCP and REST ----------------------------------------------------------------------------------


def new_pad(client: McpClient) -> tuple[int, int]:
    """A new workflow, and a pad in it that ends with the name of a secret."""
    workflow = client.call("scratchpad", "create_workflow")["workflow_id"]
    arguments = {"workflow_id": workflow, "name": "notes", "content": "DB_PASSWORD="}
    return workflow, client.call("scratchpad", "create", **arguments)["scratchpad_id"]


@every_form
def test_each_form_is_refused_over_mcp(ben_mcp: McpClient, apollo: Project, form: str) -> None:
    workflow, pad_id = new_pad(ben_mcp)
    before = dump_project(apollo)
    refusals = [
        ben_mcp.call("scratchpad", "create", workflow_id=workflow, name="new", content=FORMS[form]),
        ben_mcp.call("scratchpad", "append", scratchpad_id=pad_id, content=FORMS[form]),
        ben_mcp.call("decision", "set", key="db/access", value=FORMS[form]),
        ben_mcp.call("message", "send", text=FORMS[form]),
    ]

    assert [answer["error"] for answer in refusals] == ["invalid"] * 4
    assert all("credential" in answer["message"] for answer in refusals)
    assert stored_texts(apollo) == {name: before[name] for name in stored_texts(apollo)}


@every_form
def test_each_form_is_refused_over_rest(ben_mcp: McpClient, ben_rest: RestClient, form: str) -> None:
    workflow, pad_id = new_pad(ben_mcp)
    replies = [
        ben_rest.post("scratchpads/", {"workflow_id": workflow, "name": "new", "content": FORMS[form]}),
        ben_rest.post(f"scratchpads/{pad_id}/append/", {"content": FORMS[form]}),
        ben_rest.patch(f"scratchpads/{pad_id}/", {"content": FORMS[form]}),
        ben_rest.post("messages/", {"text": FORMS[form]}),
    ]

    assert [(reply.status, reply.body["error"]) for reply in replies] == [(400, "invalid")] * 4
    assert all("credential" in reply.body["message"] for reply in replies)
    assert content_of(pad_id) == "DB_PASSWORD="


def test_two_appends_are_refused_over_mcp_and_rest(ben_mcp: McpClient, ben_rest: RestClient) -> None:
    _, pad_id = new_pad(ben_mcp)
    arguments = {"content": PASSWORD, "separator": ""}
    answer = ben_mcp.call("scratchpad", "append", scratchpad_id=pad_id, **arguments)
    reply = ben_rest.post(f"scratchpads/{pad_id}/append/", arguments)

    assert (answer["error"], reply.status, reply.body) == ("invalid", 400, answer)
    assert answer["message"].startswith(
        "content makes a credential (assigned secret) with the text beside it"
    )
    assert content_of(pad_id) == "DB_PASSWORD="


def stored_texts(project: Project) -> dict[str, Any]:
    dump = dump_project(project)
    return {name: dump[name] for name in dump if name.startswith(("memory_", "messaging_"))}
