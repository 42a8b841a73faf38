"""The admin of the bin: who sees what was deleted, restores and purges it."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import BinItem, Event, Project
from ctxhub.toolbox.dispatch import call
from memory.models import Decision, Memory
from tests.people import ADMIN, MEMBER, VIEWER, member

LIST = reverse("admin:core_binitem_changelist")

pytestmark = pytest.mark.django_db


def deleted(caller: Caller, title: str = "Why JWT", context: str = "shop") -> BinItem:
    asked = {"action": "add", "title": title, "content": "The content.", "context": context}
    ref = f"memory:{call(caller, 'memory', asked)['id']}"
    call(caller, "delete", {"refs": [ref]})
    return BinItem.objects.in_project(caller.project).get(ref=ref)


def page(item: BinItem, name: str = "change") -> str:
    return reverse(f"admin:core_binitem_{name}", args=[item.pk])


def restore(client: Client, *items: BinItem) -> str:
    form = {"action": "restore_selected", "_selected_action": [item.pk for item in items], "confirmed": "yes"}
    return client.post(LIST, form, follow=True).content.decode()


@pytest.fixture
def item(ada: Caller) -> BinItem:
    return deleted(ada)


def test_the_list_shows_what_was_deleted(apollo: Project, item: BinItem) -> None:
    text = member(apollo, VIEWER).get(LIST).content.decode()
    for shown in (item.ref, "Why JWT", "ada", "kept"):
        assert shown in text
    assert "The content." not in text
    assert "The content." not in member(apollo, VIEWER, "wo").get(page(item)).content.decode()


def test_its_filters(apollo: Project, ada: Caller, item: BinItem) -> None:
    call(ada, "decision", {"action": "set", "key": "api/auth", "value": "v"})
    call(ada, "delete", {"refs": ["decision:api/auth"]})
    client = member(apollo, VIEWER)
    only = client.get(LIST, {"kind": "decision"}).content.decode()
    assert "auth" in only
    assert "Why JWT" not in only
    found = client.get(LIST, {"q": "JWT"}).content.decode()
    assert item.ref in found
    assert "api/auth" not in found


def test_the_list_takes_a_fixed_number_of_queries(
    apollo: Project, ada: Caller, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(12):
        deleted(ada, f"t{n}")
    client = member(apollo, VIEWER)
    client.get(LIST)
    with django_assert_max_num_queries(12):
        client.get(LIST)


def test_a_member_restores_several(apollo: Project, ada: Caller, item: BinItem) -> None:
    other = deleted(ada, "Other")
    text = restore(member(apollo, MEMBER), item, other)
    assert "Restored: " in text
    assert Memory.objects.in_project(apollo).count() == 2
    event = Event.objects.in_project(apollo).filter(verb="restored").first()
    assert event
    assert event.agent
    assert event.agent.name == "vi"


def test_it_asks_before_it_restores(apollo: Project, item: BinItem) -> None:
    client = member(apollo, MEMBER)
    form = {"action": "restore_selected", "_selected_action": [item.pk]}
    assert "Restore 1 deleted object?" in client.post(LIST, form).content.decode()
    button = reverse("admin:core_binitem_restore", args=[item.pk])
    assert "Restore 1 deleted object?" in client.get(button).content.decode()
    assert not Memory.objects.in_project(apollo).exists()
    client.post(button, {"confirmed": "yes"})
    assert Memory.objects.in_project(apollo).exists()


def test_what_is_in_the_way_is_told_and_the_others_come_back(
    apollo: Project, ada: Caller, item: BinItem
) -> None:
    for value in ("one", "two"):
        call(ada, "decision", {"action": "set", "key": "k", "value": value})
        call(ada, "delete", {"refs": ["decision:k"]})
    first = BinItem.objects.in_project(apollo).filter(kind="decision").order_by("pk")[0]
    text = restore(member(apollo, ADMIN), item, first)
    assert item.ref in text
    assert Decision.objects.in_project(apollo).get().value == "one"
    last = BinItem.objects.in_project(apollo).get(kind="decision")
    assert "another decision of the name" in restore(member(apollo, ADMIN, "two"), last)
    assert BinItem.objects.in_project(apollo).exists()


def test_a_member_does_not_restore_what_an_administrator_deletes(apollo: Project, ada: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": 1})
    call(ada, "delete", {"refs": ["decision:k"]})
    item = BinItem.objects.in_project(apollo).get()
    assert "needs the scope" in restore(member(apollo, MEMBER), item).replace("&#x27;", "'")
    assert not Decision.objects.in_project(apollo).exists()


def test_viewers_restore_nothing(apollo: Project, item: BinItem) -> None:
    client = member(apollo, VIEWER)
    restore(client, item)
    button = reverse("admin:core_binitem_restore", args=[item.pk])
    assert client.post(button, {"confirmed": "yes"}).status_code in (302, 403)
    assert not Memory.objects.in_project(apollo).exists()


def test_an_administrator_purges(apollo: Project, item: BinItem) -> None:
    assert member(apollo, MEMBER).post(page(item, "delete"), {"post": "yes"}).status_code == 403
    assert BinItem.objects.in_project(apollo).exists()
    client = member(apollo, ADMIN, "host")
    assert "cannot be restored" in client.get(page(item, "delete")).content.decode()
    client.post(page(item, "delete"), {"post": "yes"})
    assert not BinItem.objects.in_project(apollo).exists()
    assert Event.objects.in_project(apollo).filter(verb="purged", ref=item.ref).exists()


def test_an_administrator_purges_several(apollo: Project, ada: Caller, item: BinItem) -> None:
    other = deleted(ada, "Other")
    form = {"action": "delete_selected", "_selected_action": [item.pk, other.pk], "post": "yes"}
    member(apollo, ADMIN).post(LIST, form)
    assert not BinItem.objects.in_project(apollo).exists()


def test_strangers_see_nothing(hermes: Project, apollo: Project, item: BinItem) -> None:
    client = member(hermes, ADMIN)
    assert item.ref not in client.get(LIST).content.decode()
    assert client.get(page(item)).status_code in (302, 404)
    restore(client, item)
    client.post(page(item, "delete"), {"post": "yes"})
    assert BinItem.objects.in_project(apollo).exists()
    assert not Memory.objects.in_project(apollo).exists()


def test_what_the_admin_deletes_lies_there(apollo: Project, ada: Caller) -> None:
    row_id = call(ada, "memory", {"action": "add", "title": "t", "content": "c", "context": "shop"})["id"]
    client = member(apollo, ADMIN)
    client.post(reverse("admin:memory_memory_delete", args=[row_id]), {"post": "yes"})
    item = BinItem.objects.in_project(apollo).get()
    assert item.agent
    assert (item.ref, item.agent.name) == (f"memory:{row_id}", "vi")
    restore(client, item)
    assert Memory.objects.in_project(apollo).exists()


def test_markup_in_titles_is_text(apollo: Project, ada: Caller) -> None:
    item = deleted(ada, "<script>alert(1)</script>")
    client = member(apollo, ADMIN)
    button = reverse("admin:core_binitem_restore", args=[item.pk])
    for address in (LIST, page(item), button):
        assert "<script>alert(1)" not in client.get(address).content.decode()
