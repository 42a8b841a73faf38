"""People who ask for broadcasts: they owe them, and For you lists them; others owe none."""

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.people import choose_broadcasts
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Preference, Project
from messaging.models import Delivery
from tests.messaging.mail import send
from tests.people import ADMIN, VIEWER, person, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

SETTINGS = "/admin/settings/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return signed_in(person("vi", apollo, VIEWER))


def asked(client: Client) -> list[int]:
    """What For you lists."""
    return [each.id for each in client.get("/admin/").context["for_you"].shown]


def choose(client: Client, *, wanted: bool) -> None:
    answer = client.post(SETTINGS, {"broadcasts": "on"} if wanted else {})
    assert (answer.status_code, answer["Location"]) == (302, SETTINGS)


def test_who_did_not_ask_owes_no_broadcast(client: Client, ada: Caller) -> None:
    send(ada, "Deploying at noon.", ack=True)
    assert asked(client) == []
    assert "checked" not in client.get(SETTINGS).content.decode().partition('name="broadcasts"')[2][:200]
    assert not Delivery.unscoped.filter(folded="vi", owed=True).exists()


def test_who_asked_owes_those_from_then_on_and_acknowledges_in_place(client: Client, ada: Caller) -> None:
    send(ada, "Of before.", ack=True)
    choose(client, wanted=True)
    row_id = send(ada, "Deploying at noon.", ack=True)
    assert asked(client) == [row_id]
    client.post(reverse("admin:messaging_message_answer"), {"do": f"ack:{row_id}"})
    assert asked(client) == []
    assert Delivery.unscoped.get(message=row_id, folded="vi").acked_at


def test_who_declines_owes_none_any_more(client: Client, ada: Caller) -> None:
    choose(client, wanted=True)
    send(ada, "Deploying at noon.", ack=True)
    direct = send(ada, "For you.", to=["vi"])
    choose(client, wanted=False)
    assert asked(client) == [direct]
    assert not Delivery.unscoped.filter(folded="vi", owed=True, message__to_everyone=True).exists()


def test_nobody_is_asked_for_another_project_or_by_themselves(
    apollo: Project, hermes: Project, ada: Caller, cy: Caller
) -> None:
    user = person("vera", apollo, ADMIN)
    choose_broadcasts(user, wanted=True)
    send(cy, "Elsewhere.")
    own = send(Caller(project=apollo, agent="vera", is_person=True), "Mine.")
    assert not Delivery.unscoped.filter(folded="vera").exclude(message=own).exists()
    assert not Delivery.unscoped.filter(folded="vera", owed=True).exists()


def test_one_persons_choice_is_not_anothers(apollo: Project, client: Client, ada: Caller) -> None:
    choose(client, wanted=True)
    other = signed_in(person("zoe", apollo, VIEWER))
    send(ada, "Deploying at noon.")
    assert (len(asked(client)), asked(other)) == (1, [])
    assert Preference.objects.get().user.get_username() == "vi"


def test_rest_tells_and_takes_the_choice(client: Client, ada: Caller) -> None:
    assert client.get("/api/v1/me/").json()["broadcasts"] is False
    answer = client.patch("/api/v1/me/", {"broadcasts": True}, content_type="application/json")
    assert (answer.status_code, answer.json()) == (200, {"broadcasts": True})
    assert client.get("/api/v1/me/").json()["broadcasts"] is True
    row_id = send(ada, "Deploying at noon.")
    assert asked(client) == [row_id]


def test_the_page_is_in_the_menu_of_the_persons_name(client: Client) -> None:
    page = client.get(SETTINGS)
    assert page.status_code == 200
    assert f'href="{SETTINGS}"' in page.content.decode()
    assert Client().get(SETTINGS).status_code == 302
