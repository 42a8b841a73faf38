"""Files, their changes and leases in the admin: found by people, read, and released by administrators."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.console import refs
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Membership, Project
from tests.people import ADMIN, MEMBER, VIEWER, member, superuser
from tracking.changes.services import record_change, record_change_batch
from tracking.leases.services import acquire_lease, release_leases
from tracking.models import FileChange, Lease, Resource

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


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {"app.py", "x.md"}),
        ("?q=app", {"app.py"}),
        ("?q=resource:docs/x.md", {"x.md"}),
        ("?q=docs/x.md:42", {"x.md"}),
        ("?agent=ben", {"x.md"}),
        ("?layer=data", {"app.py"}),
        ("?change__exact=3", {"x.md"}),
    ],
)
def test_changes_are_found(history: Project, query: str, shown: set[str]) -> None:
    page = text(member(history), CHANGES + query)
    rows = page[page.index("result_list") :]
    assert {name for name in ("app.py", "x.md") if name in rows} == shown


def test_a_change_is_read_only(history: Project) -> None:
    change = FileChange.objects.in_project(history).get(resource__path="src/app.py")
    client = member(history, ADMIN)
    page = text(client, reverse("admin:tracking_filechange_change", args=[change.pk]))
    assert "Why &lt;b&gt;." in page
    assert client.get(reverse("admin:tracking_filechange_add")).status_code == 403
    assert client.get(reverse("admin:tracking_filechange_delete", args=[change.pk])).status_code == 403
    assert client.post(reverse("admin:tracking_filechange_change", args=[change.pk]), {}).status_code == 403


def test_a_file_shows_its_last_change_and_its_lease(history: Project, lease: Lease) -> None:
    file = Resource.objects.in_project(history).get(path="src/app.py")
    client = member(history)
    assert "app.py" in text(client, FILES)
    page = text(client, reverse("admin:tracking_resource_read", args=[file.pk]))
    assert "ada" in page
    assert f"{CHANGES}?project=apollo&amp;q=src%2Fapp.py" in page


def test_refs_of_events_lead_to_their_pages(history: Project, lease: Lease) -> None:
    change = FileChange.objects.in_project(history)[0]
    client = member(history)
    for ref in ("resource:src/app.py", f"change:{change.pk}", f"lease:{lease.pk}"):
        url = refs.page_of(history.pk, ref)
        assert url
        assert client.get(url).status_code == 200
    for ref in ("resource:none", "change:x", "lease:0", f"lease:{10**30}"):
        assert refs.page_of(history.pk, ref) is None


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


def test_a_viewer_and_a_stranger_set_no_importance(history: Project, hermes: Project) -> None:
    file = Resource.objects.in_project(history).get(path="src/app.py")
    viewer = member(history, VIEWER)
    assert "ctx-importance" not in text(viewer, reverse("admin:tracking_resource_read", args=[file.pk]))
    assert "you cannot change them" in marked(viewer, file)
    marked(member(hermes, ADMIN, "vera"), file)
    file.refresh_from_db()
    assert file.mark is None


# -- Leases ----------------------------------------------------------------------------------------


def test_leases_show_holder_paths_and_remaining_time(lease: Lease, apollo: Project) -> None:
    page = text(member(apollo), LEASES)
    assert all(word in page for word in ("<wbr>**", "ada", "live", "exclusive", "in 14 minutes", "Rework."))


@pytest.mark.every_engine
def test_leases_are_found_by_state_holder_and_path(lease: Lease, ben: Caller, apollo: Project) -> None:
    ended = acquire_lease(caller=ben, paths=["lib/old"])["lease_id"]
    release_leases(caller=ben, lease_id=ended)
    client = member(apollo)

    def found(query: str) -> set[str]:
        page = text(client, f"{LEASES}?{query}")
        rows = page[page.index("result_list") :] if "result_list" in page else ""
        return {name for name in ("Rework.", "<wbr>old") if name in rows}

    assert found("") == {"Rework.", "<wbr>old"}
    assert found("state=live") == found("agent=ada") == found("q=docs/x") == {"Rework."}
    assert found("state=released") == found("agent=ben") == {"<wbr>old"}
    assert found("state=expired") == set()


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


@pytest.mark.parametrize("role", [VIEWER, MEMBER])
def test_other_roles_cannot_release_by_force(lease: Lease, apollo: Project, role: Membership.Role) -> None:
    release(member(apollo, role), lease)
    lease.refresh_from_db()
    assert lease.released_at is None


def test_an_administrator_of_another_project_releases_nothing(
    lease: Lease, hermes: Project, apollo: Project
) -> None:
    client = member(hermes, ADMIN, "vera")
    release(client, lease)
    assert client.get(reverse("admin:tracking_lease_change", args=[lease.pk])).status_code == 302
    assert "Rework." not in text(client, LEASES)
    lease.refresh_from_db()
    assert lease.released_at is None


# -- Index page and queries ------------------------------------------------------------------------


def test_the_index_counts_changes_and_live_leases(history: Project, lease: Lease) -> None:
    inventory = {each.text for each in superuser().get(reverse("admin:index")).context["inventory"]}
    assert inventory >= {"2 file changes in the last hour", "1 live lease"}


@pytest.mark.parametrize("address", [CHANGES, FILES, LEASES])
def test_a_list_executes_as_many_queries_for_many_rows_as_for_few(ada: Caller, address: str) -> None:
    client = superuser()

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            text(client, address)
        return len(captured)

    def add(start: int, count: int) -> None:
        for n in range(start, start + count):
            record_change_batch(caller=ada, items=[{"path": f"f{n}", "change": "created", "layer": "data"}])
            acquire_lease(caller=ada, paths=[f"f{n}"])

    add(0, 2)
    queries()
    few = queries()
    add(2, 15)
    assert queries() == few
