"""Import of sqlew's messages: sender, text, recipients and read state."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from messaging.messages.services import send_message
from messaging.models import Delivery, Message, RequestState
from tests.people import person
from tests.sqlew.importing import Import, imported
from tests.sqlew.old_file import OldFile

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]


def ago(**span: float) -> datetime:
    return (clock.now() - timedelta(**span)).replace(microsecond=0)


def stored(project: Project) -> list[Message]:
    return list(Message.objects.in_project(project).select_related("sender").order_by("pk"))


def unread(project: Project) -> list[str]:
    waiting = Delivery.objects.in_project(project).filter(read_at=None)
    return sorted(waiting.values_list("name", flat=True))


@pytest.mark.parametrize("version", [1, 3])
def test_a_message_keeps_its_fields_and_time(
    apollo: Project, old_version: Callable[[int], OldFile], version: int
) -> None:
    file, then = old_version(version), ago(hours=2)
    file.message("Look", sender="ada", to="ben", type=3, at=then, priority=4, payload='{"pr": 7}')
    assert imported(file.close()).counts["messages"] == (1, 0, 0)
    [message] = stored(apollo)
    assert (message.text, message.payload, message.sender.name) == ("Look", {"pr": 7}, "ada")
    assert (message.get_type_display(), message.get_priority_display()) == ("request", "critical")
    assert (message.state, message.created_at, message.to_everyone) == (RequestState.OPEN, then, False)
    assert unread(apollo) == ["ben"]


def test_a_sender_with_the_name_of_a_person_keeps_it_as_an_agent(
    apollo: Project, old: OldFile, take: Take
) -> None:
    person("ada", apollo)
    old.message(sender="Ada", payload="Look")
    take()
    [message] = stored(apollo)
    assert (message.sender.name, message.sender.get_kind_display()) == ("Ada", "agent")


@pytest.mark.parametrize(
    ("payload", "text"), [('{"pr": 7}', '{"pr": 7}'), ('"Look"', "Look"), ("no { json", "no { json")]
)
def test_without_a_text_the_payload_becomes_the_text(
    apollo: Project, old: OldFile, take: Take, payload: str, text: str
) -> None:
    old.message(payload=payload)
    take()
    [message] = stored(apollo)
    assert (message.text, message.payload) == (text, None)


def test_a_payload_that_is_not_json_is_kept_as_a_string(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file = old_version(3)
    file.message("Look", payload="{half")
    imported(file.close())
    assert stored(apollo)[0].payload == "{half"


def test_a_message_to_everyone_is_delivered_to_all_known_agents(
    apollo: Project, ben: Caller, old_version: Callable[[int], OldFile]
) -> None:
    send_message(caller=ben, text="First")
    file = old_version(3)
    file.decision("k", agent="cyd")
    file.message("All", sender="ada")
    imported(file.close())
    message = stored(apollo)[1]
    assert message.to_everyone
    assert sorted(message.deliveries.values_list("name", flat=True)) == ["ben", "cyd"]
    assert not message.deliveries.exclude(read_at=None).exists()


def test_imported_agents_get_existing_messages_to_everyone(
    apollo: Project, ben: Caller, old: OldFile, take: Take
) -> None:
    send_message(caller=ben, text="First")
    old.decision("k", agent="ada")
    take()
    assert "ada" in unread(apollo)


def test_read_messages_stay_read(apollo: Project, old_version: Callable[[int], OldFile]) -> None:
    file = old_version(3)
    file.decision("k", agent="cyd")
    file.message("Seen", sender="ada", to="ben", read=1)
    file.message("All seen", sender="ada", read=1)
    imported(file.close())
    assert unread(apollo) == []
    assert Delivery.objects.in_project(apollo).count() == 2


def test_recipients_are_not_registered_as_agents(apollo: Project, old: OldFile, take: Take) -> None:
    old.message(sender="ada", to="ben", payload="1")
    take()
    assert not Agent.objects.in_project(apollo).filter(name="ben").exists()


def test_messages_older_than_the_retention_are_skipped(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file = old_version(3)
    file.message("old to everyone", at=ago(hours=25))
    file.message("old and read", to="ben", at=ago(hours=25), read=1)
    file.message("old and unread", to="ben", at=ago(hours=25))
    file.message("older", to="ben", at=ago(hours=169))
    report = imported(file.close())
    assert report.counts["messages"] == (1, 0, 3)
    assert report.reasons[0].startswith("messages (3): older than message_hours (24)")
    cleanup(apollo.pk)
    assert [message.text for message in stored(apollo)] == ["old and unread"]


def test_a_longer_retention_takes_older_messages(
    apollo: Project, ada: Caller, old_version: Callable[[int], OldFile]
) -> None:
    set_config(caller=ada, values={"message_hours": 100})
    file = old_version(3)
    file.message("old", at=ago(hours=99))
    assert imported(file.close()).counts["messages"] == (1, 0, 0)


def test_repeated_messages_are_recognised_by_all_their_fields(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file, then = old_version(3), ago(hours=1)
    for to in ("ben", "cyd", None):
        file.message("Look", to=to, at=then)
    file.message("Look", to="ben", at=then)
    assert imported(file.path).counts["messages"] == (4, 0, 0)
    file.message("Look", to="ben", at=then)
    file.message("Look", to="ben", at=then, type=2)
    assert imported(file.close()).counts["messages"] == (2, 4, 0)
    assert len(stored(apollo)) == 6


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"payload": None}, "it has neither text nor payload: 'from ada to everyone'"),
        ({"text": "Look", "to": "ada"}, "to names nobody but you"),
        ({"text": "x" * 70_000}, "text has 70,000 bytes"),
        ({"text": f"ghp_{'a1B2' * 9}"}, "seems to hold a credential"),
        ({"text": "Look", "type": 9}, "type: 9 is not known"),
        ({"text": "Look", "payload": "NaN"}, "payload is not JSON"),
        ({"text": "Look", "sender": "x" * 101}, "its sender is not known"),
    ],
)
def test_an_invalid_message_is_skipped_with_the_reason(
    apollo: Project, old_version: Callable[[int], OldFile], row: dict[str, Any], reason: str
) -> None:
    file = old_version(3)
    file.message(**row)
    file.message("Good")
    report = imported(file.close())
    assert report.counts["messages"] == (1, 0, 1)
    assert any(reason in line for line in report.reasons), report.reasons


def test_a_message_without_its_agents_or_time_is_skipped(apollo: Project, old: OldFile, take: Take) -> None:
    old.insert("agent_messages", from_agent_id=99, msg_type=1, payload="1", ts=1)
    old.insert(
        "agent_messages", from_agent_id=old.agent("ada"), to_agent_id=99, msg_type=1, payload="1", ts=1
    )
    old.insert("agent_messages", from_agent_id=old.agent("ada"), msg_type=1, payload="1", ts=None)
    report = take()
    assert report.counts["messages"] == (0, 0, 3)
    assert not stored(apollo)
