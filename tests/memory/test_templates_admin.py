"""Templates in the admin: the list, the forms, the rights."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import DecisionTemplate
from memory.templates.services import set_template
from tests.people import ADMIN, MEMBER, VIEWER, member

LIST = "/admin/memory/decisiontemplate/"
INCIDENT: dict[str, Any] = {
    "defaults": {"layer": "data", "tags": ["incident"]},
    "require": ["rationale", "severity"],
    "patterns": {"severity": "^(low|high)$", "cve_id": r"^CVE-\d{4}"},
}


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, MEMBER, "vi")


@pytest.fixture
def incident(ada: Caller) -> DecisionTemplate:
    set_template(caller=ada, name="Incident", **INCIDENT)
    return DecisionTemplate.objects.in_project(ada.project).get()


def form_of(client: Client, template: DecisionTemplate) -> dict[str, Any]:
    form = client.get(f"{LIST}{template.pk}/change/").context["adminform"].form
    return {name: form[name].value() for name in form.fields}


def save(client: Client, template: DecisionTemplate, **typed: str) -> str:
    page = client.post(f"{LIST}{template.pk}/change/", {**form_of(client, template), **typed}, follow=True)
    template.refresh_from_db()
    return page.content.decode()


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.ref, str(event.agent)


def test_a_row_shows_the_template(client: Client, incident: DecisionTemplate) -> None:
    text = client.get(LIST).content.decode()
    assert all(part in text for part in ("Incident", "incident</span>", "severity", "ada", "just now"))
    assert client.get(f"{LIST}?agent=ben").context["cl"].result_count == 0


def test_the_form_shows_lists_and_patterns_as_text(client: Client, incident: DecisionTemplate) -> None:
    form = form_of(client, incident)
    assert form["require"] == "rationale, severity"
    assert form["patterns"] == "cve_id: ^CVE-\\d{4}\nseverity: ^(low|high)$"
    assert "security_vulnerability" in client.get(f"{LIST}{incident.pk}/change/").content.decode()


def test_an_unchanged_form_changes_nothing(client: Client, incident: DecisionTemplate) -> None:
    save(client, incident)
    assert Event.objects.in_project(incident.project).count() == 1
    assert (incident.defaults, incident.require, incident.patterns) == tuple(INCIDENT.values())


def test_the_form_changes_only_edited_fields(client: Client, incident: DecisionTemplate) -> None:
    save(client, incident, patterns="severity: ^(low|mid|high)$\r\nkey: ^a: b$", require="")
    assert incident.patterns == {"severity": "^(low|mid|high)$", "key": "^a: b$"}
    assert (incident.require, incident.defaults) == ([], INCIDENT["defaults"])
    assert last_event(incident.project) == ("updated", "template:Incident", "vi")


def test_a_template_is_added_as_typed(client: Client, apollo: Project) -> None:
    typed = {"name": " t ", "defaults": '{"tags": ["a"]}', "require": "rationale", "patterns": "key: ^x/"}
    client.post(f"{LIST}add/", typed)
    made = DecisionTemplate.objects.in_project(apollo).get()
    assert (made.name, made.defaults, made.require) == ("t", {"tags": ["a"]}, ["rationale"])
    assert (made.patterns, str(made.agent)) == ({"key": "^x/"}, "vi")


@pytest.mark.parametrize("name", ["incident", " INCIDENT "])
def test_adding_never_changes_an_existing_template(
    client: Client, incident: DecisionTemplate, name: str
) -> None:
    page = client.post(f"{LIST}add/", {"name": name, "require": "x"})
    assert "already exists. Open it to change it." in page.content.decode()
    assert DecisionTemplate.unscoped.get().require == INCIDENT["require"]


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("defaults", "[]", "Write a JSON object"),
        ("defaults", '{"key": "k"}', "can have a default"),
        ("defaults", '{"layer": "nowhere"}', "is not known"),
        ("patterns", "severity: (", "is no regular expression"),
        ("patterns", "severity", "a colon and a regular expression"),
        ("require", ",".join(f"t{n}" for n in range(60)), "the limit is 50"),
    ],
)
def test_errors_are_shown_on_the_form_and_change_nothing(
    field: str, typed: str, message: str, client: Client, incident: DecisionTemplate
) -> None:
    assert message in save(client, incident, **{field: typed})
    assert Event.objects.in_project(incident.project).count() == 1


@pytest.mark.every_engine
def test_an_administrator_deletes(apollo: Project, client: Client, incident: DecisionTemplate) -> None:
    url = f"{LIST}{incident.pk}/delete/"
    assert client.post(url, {"post": "yes"}).status_code == 403
    member(apollo, ADMIN, "boss").post(url, {"post": "yes"})
    assert not DecisionTemplate.unscoped.exists()
    assert last_event(apollo) == ("deleted", "template:Incident", "boss")


def test_a_viewer_reads(apollo: Project, incident: DecisionTemplate) -> None:
    reader = member(apollo, VIEWER, "reader")
    assert "severity" in reader.get(f"{LIST}{incident.pk}/change/").content.decode()
    assert reader.post(f"{LIST}{incident.pk}/change/", {"require": "x"}).status_code == 403


def test_the_page_and_its_events_link_to_each_other(client: Client, incident: DecisionTemplate) -> None:
    event = Event.objects.in_project(incident.project).get()
    assert client.get(f"/admin/core/event/{event.pk}/open/")["Location"] == f"{LIST}{incident.pk}/change/"
    history = client.get(f"{LIST}{incident.pk}/history/", follow=True)
    assert history.context["cl"].result_count == 1


def test_the_list_runs_no_queries_per_row(client: Client, ada: Caller, incident: DecisionTemplate) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST).status_code == 200
        return len(queries)

    count()
    few = count()
    for number in range(30):
        set_template(caller=Caller(ada.project, f"agent {number}"), name=f"t{number}", **INCIDENT)
    assert count() == few
