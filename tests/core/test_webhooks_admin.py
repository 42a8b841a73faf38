"""The admin's pages of webhooks: masked addresses, a secret shown once, deliveries, tests, switched off."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project, Webhook, WebhookDelivery
from ctxhub.core.webhooks.models import DeliveryStatus
from ctxhub.core.webhooks.sealing import unseal
from ctxhub.core.webhooks.services import add_webhook
from tests.people import ADMIN, MEMBER, VIEWER, member
from tests.receiver import saved

LIST, ADD = reverse("admin:core_webhook_changelist"), reverse("admin:core_webhook_add")
URL = "https://hooks.example.com/services/abcdefghijklmnopqrstuvwxyz"
SHOWN = "https://hooks.example.com/<wbr>…wxyz"


@pytest.fixture
def host(apollo: Project) -> Client:
    return member(apollo, ADMIN, "host")


@pytest.fixture
def row(ada: Caller) -> Webhook:
    return add_webhook(caller=ada, url=URL, kind="slack", nouns=["decision"]).row


def page(row: Webhook) -> str:
    return reverse("admin:core_webhook_change", args=[row.pk])


def fields(**rest: Any) -> dict[str, Any]:
    return {"kind": "slack", "url": "", "nouns": "decision", "verbs": "", "active": "on", **rest}


def dead(row: Webhook, **rest: Any) -> WebhookDelivery:
    delivery = WebhookDelivery(project=row.project, webhook=row, event_id=1, created_at=clock.now())
    delivery.status, delivery.code = DeliveryStatus.DEAD, 404
    return saved(delivery, **rest)


def test_a_webhook_is_added_and_its_secret_shown_once(host: Client) -> None:
    form = {"kind": "slack", "url": URL, "nouns": "decision, message", "verbs": "set", "once": "1"}
    answer = host.post(ADD, {**form, "priority": ["high", "critical"]})
    row = Webhook.unscoped.get()
    assert unseal(row.sealed_secret) in answer.content.decode()
    assert (row.nouns, row.verbs, row.priority) == (
        ["decision", "message"],
        ["created", "updated"],
        ["high", "critical"],
    )
    assert unseal(row.sealed_url) == URL
    again = host.post(ADD, {**form, "once": "1"})
    assert again.status_code == 302
    assert Webhook.unscoped.count() == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"url": "http://127.0.0.1/"}, "no public address"),
        ({"url": ""}, "required"),
        ({"url": "https://example.com/", "nouns": "decisoin"}, "decisoin"),
        ({"url": "https://example.com/", "kind": "mail"}, "Select a valid choice"),
    ],
)
def test_an_error_is_shown_on_the_form(host: Client, wrong: dict[str, Any], message: str) -> None:
    answer = host.post(ADD, {"kind": "json", "once": "1", **wrong})
    assert message in answer.content.decode()
    assert not Webhook.unscoped.exists()


def test_address_and_secret_are_on_no_page(host: Client, row: Webhook) -> None:
    dead(row)
    for url in (LIST, page(row), reverse("admin:core_event_changelist"), reverse("admin:index")):
        text = host.get(url).content.decode()
        assert "abcdefghijkl" not in text
        assert unseal(row.sealed_secret) not in text
    assert "hooks.example.com" in host.get(LIST).content.decode()


def test_a_form_that_is_saved_as_it_is_changes_nothing(host: Client, row: Webhook) -> None:
    assert host.post(page(row), fields()).status_code == 302
    assert Event.objects.in_project(row.project).filter(verb="updated").count() == 0
    row.refresh_from_db()
    assert unseal(row.sealed_url) == URL


def test_a_webhook_is_changed(host: Client, row: Webhook) -> None:
    host.post(page(row), fields(url="https://example.com/new", nouns="", active=""))
    row.refresh_from_db()
    assert (row.shown, row.nouns, row.is_active) == ("https://example.com/…", [], False)


def test_the_page_shows_deliveries_and_dead_ones_are_sent_again(host: Client, row: Webhook) -> None:
    first, second = dead(row, answer="<b>gone</b>"), dead(row, event_id=7, problem="No answer.")
    text = host.get(page(row)).content.decode()
    assert "&lt;b&gt;gone" in text
    assert "Send the 2 dead ones again" in text
    assert text.count(">Send again<") == 2
    host.post(reverse("admin:core_webhook_again", args=[row.pk]), {"delivery": [first.pk, second.pk]})
    assert set(WebhookDelivery.unscoped.values_list("status", flat=True)) == {DeliveryStatus.WAITING}


def test_a_test_is_sent_by_the_button(host: Client, row: Webhook) -> None:
    url = reverse("admin:core_webhook_test", args=[row.pk])
    assert host.get(url).status_code == 405
    text = host.post(url, follow=True).content.decode()
    assert "A test is on its way" in text
    assert "Look again" in text
    assert WebhookDelivery.unscoped.get().event_id is None


def test_one_that_was_switched_off_is_told_on_its_page_and_on_the_first(
    host: Client, row: Webhook, apollo: Project
) -> None:
    Webhook.unscoped.update(is_active=False, off_because="20 tries in a row failed", off_at=clock.now())
    assert "20 tries in a row failed" in host.get(page(row)).content.decode()
    assert "20 tries in a row failed" in host.get(reverse("admin:index")).content.decode()
    assert "switched off" in host.get(LIST).content.decode()
    other = member(apollo, MEMBER, "mel")
    assert "20 tries in a row failed" not in other.get(reverse("admin:index")).content.decode()


@pytest.mark.parametrize("role", [VIEWER, MEMBER])
def test_only_administrators_see_them(apollo: Project, row: Webhook, role: Any) -> None:
    client = member(apollo, role)
    for url in (LIST, ADD):
        assert client.get(url).status_code == 403
    assert client.get(page(row)).status_code in (302, 403)
    for act in ("test", "again"):
        answer = client.post(reverse(f"admin:core_webhook_{act}", args=[row.pk]))
        assert answer.status_code in (302, 403)
    assert not WebhookDelivery.unscoped.exists()


def test_another_projects_webhook_is_not_there(hermes: Project, row: Webhook) -> None:
    client = member(hermes, ADMIN, "cy")
    assert client.get(page(row)).status_code == 302
    assert "hooks.example.com" not in client.get(LIST).content.decode()
    for act in ("test", "again"):
        client.post(reverse(f"admin:core_webhook_{act}", args=[row.pk]))
    assert not WebhookDelivery.unscoped.exists()


def test_it_is_deleted(host: Client, row: Webhook) -> None:
    url = reverse("admin:core_webhook_delete", args=[row.pk])
    assert "What waits is not sent" in host.get(url).content.decode()
    host.post(url, {"post": "yes"})
    assert not Webhook.unscoped.exists()


def test_the_page_costs_the_same_with_many_deliveries(
    host: Client, row: Webhook, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(60):
        dead(row, event_id=number)
    with django_assert_max_num_queries(12):
        host.get(page(row))
