"""Files and leases in the admin: marked by members, and released by administrators."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from tests.people import ADMIN, member, superuser
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease, release_leases
from tracking.models import Lease, Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

CHANGES = reverse("admin:tracking_filechange_changelist")
LEASES = reverse("admin:tracking_lease_changelist")
FILES = reverse("admin:tracking_resource_changelist")


@pytest.fixture
def history(ada: Caller, ben: Caller) -> Project:
    record_change(caller=ada, path="src/app.py", change="created", layer="data", description="Why <b>.")
    record_change(caller=ben, path="docs/x.md", change="deleted", layer="business")
    return ada.project


@pytest.fixture
def lease(ada: Caller) -> Lease:
    made = acquire_lease(caller=ada, paths=["src/**", "docs/x.md"], reason="Rework.")
    return Lease.objects.in_project(ada.project).get(pk=made["lease_id"])


def text(client: Client, address: str) -> str:
    page = client.get(address)
    assert page.status_code == 200, page
    return page.content.decode()


# -- Changes and files -----------------------------------------------------------------------------


def test_a_file_leads_to_its_changes(history: Project) -> None:
    file = Resource.objects.in_project(history).get(path="src/app.py")
    page = text(member(history), reverse("admin:tracking_resource_read", args=[file.pk]))
    assert f"{CHANGES}?project=apollo&amp;q=src%2Fapp.py" in page


def marked(client: Client, file: Resource, importance: str = "80") -> str:
    url = reverse("admin:tracking_resource_set_importance", args=[file.pk])
    return client.post(url, {"confirmed": "yes", "importance": importance}, follow=True).content.decode()


def test_a_member_sets_the_importance_of_a_file(history: Project) -> None:
    file, client = Resource.objects.in_project(history).get(path="src/app.py"), member(history)
    assert "The importance of 1 file is now 80." in marked(client, file)
    file.refresh_from_db()
    assert file.mark == 80
    event = Event.objects.in_project(history).latest("pk")
    assert (event.ref, event.verb, str(event.agent)) == ("resource:src/app.py", "updated", "vi")


def test_a_blank_importance_is_computed_again(history: Project) -> None:
    file, client = Resource.objects.in_project(history).get(path="src/app.py"), member(history)
    marked(client, file)
    assert "is now computed." in marked(client, file, "")
    file.refresh_from_db()
    assert file.mark is None
    assert "Nothing has changed." in marked(client, file, "")


@pytest.mark.parametrize("importance", ["101", "-1", "much"])
def test_a_wrong_importance_is_refused_on_the_form(importance: str, history: Project) -> None:
    file = Resource.objects.in_project(history).get(path="src/app.py")
    assert "Set the importance of 1 file" in marked(member(history), file, importance)
    file.refresh_from_db()
    assert file.mark is None


def test_the_importance_of_selected_files_is_set_at_once(history: Project) -> None:
    files = Resource.objects.in_project(history)
    data = {
        "action": "set_importance_selected",
        "_selected_action": [file.pk for file in files],
        "importance": "7",
    }
    page = member(history).post(FILES, {**data, "confirmed": "yes"}, follow=True).content.decode()
    assert "The importance of 2 files is now 7." in page
    assert [file.mark for file in Resource.objects.in_project(history)] == [7, 7]


# -- Leases ----------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_ended_leases_are_found(ben: Caller, apollo: Project) -> None:
    ended = acquire_lease(caller=ben, paths=["lib/old"])["lease_id"]
    release_leases(caller=ben, lease_id=ended)
    client = member(apollo)
    for state, found in (("released", 1), ("live", 0), ("expired", 0)):
        assert client.get(LEASES, {"state": state}).context["cl"].result_count == found


def release(client: Client, *leases: Lease, confirmed: bool = True) -> str:
    data = {"action": "force_release_selected", "_selected_action": [lease.pk for lease in leases]}
    page = client.post(LEASES, {**data, **({"confirmed": "yes"} if confirmed else {})}, follow=True)
    return page.content.decode()


def test_an_administrator_releases_by_force_and_an_event_records_it(lease: Lease, apollo: Project) -> None:
    client = member(apollo, ADMIN, "vera")
    assert "still be writing" in release(client, lease, confirmed=False)
    lease.refresh_from_db()
    assert lease.released_at is None
    assert "1 lease was released." in release(client, lease)
    lease.refresh_from_db()
    assert str(lease.released_by) == "vera"
    event = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (event.verb, str(event.agent), event.data["holder"]) == ("force_released", "vera", "ada")


def test_a_lease_has_a_button_of_its_own(lease: Lease, apollo: Project) -> None:
    client = member(apollo, ADMIN, "vera")
    page = text(client, reverse("admin:tracking_lease_change", args=[lease.pk]))
    assert "Release by force" in page
    address = reverse("admin:tracking_lease_force_release", args=[lease.pk])
    assert "still be writing" in text(client, address)
    assert "1 lease was released." in client.post(address, {"confirmed": "yes"}, follow=True).content.decode()
    assert "Release by force" not in text(client, reverse("admin:tracking_lease_change", args=[lease.pk]))


def test_an_ended_lease_is_not_released_again(lease: Lease, apollo: Project) -> None:
    Lease.objects.in_project(apollo).update(expires_at=clock.now() - timedelta(minutes=1))
    before = Event.objects.in_project(apollo).count()
    assert "nothing to release" in release(member(apollo, ADMIN), lease)
    assert Event.objects.in_project(apollo).count() == before


def test_a_member_cannot_release_by_force(lease: Lease, apollo: Project) -> None:
    release(member(apollo), lease)
    lease.refresh_from_db()
    assert lease.released_at is None


# -- Index page and queries ------------------------------------------------------------------------


def test_the_index_counts_changes_and_live_leases(history: Project, lease: Lease) -> None:
    inventory = {each.text for each in superuser().get(reverse("admin:index")).context["inventory"]}
    assert inventory >= {"2 file changes in the last hour", "1 live lease"}
