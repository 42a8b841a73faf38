"""A project's settings on its admin page: administrators change them, invalid values are refused."""

from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from ctxhub.core.accounts.config import config_of
from ctxhub.core.models import Event, Project
from tests.people import ADMIN, MEMBER, VIEWER, member

NO_MEMBERS = {
    "memberships-TOTAL_FORMS": "0",
    "memberships-INITIAL_FORMS": "0",
    "memberships-MIN_NUM_FORMS": "0",
    "memberships-MAX_NUM_FORMS": "1000",
}


def save(client: Client, project: Project, **changed: Any) -> Any:
    page = client.get(f"/admin/core/project/{project.pk}/change/")
    form = page.context["adminform"].form
    data = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    data = {**data, "holidays": "", **NO_MEMBERS, **changed}
    return client.post(f"/admin/core/project/{project.pk}/change/", data)


def test_an_administrator_changes_settings(apollo: Project) -> None:
    reply = save(
        member(apollo, ADMIN),
        apollo,
        message_hours="48",
        ignore_weekend="on",
        time_zone="Europe/Berlin",
        holidays="2026-12-25\n2026-12-26",
    )
    assert reply.status_code == 302, reply.context["errors"]
    config = config_of(apollo.pk)
    assert (config.message_hours, config.change_days) == (48, 7)
    assert (config.ignore_weekend, config.time_zone) == (True, "Europe/Berlin")
    assert config.holidays == ("2026-12-25", "2026-12-26")
    [event] = Event.objects.in_project(apollo).filter(noun="config")
    assert event.agent is not None
    assert event.agent.name == "vi"


def test_an_invalid_value_is_shown_on_the_form_and_nothing_is_stored(apollo: Project) -> None:
    reply = save(member(apollo, ADMIN), apollo, message_hours="999", change_days="3")
    assert "1 to 168" in reply.content.decode()
    assert config_of(apollo.pk).change_days == 7


def test_a_member_cannot_change_settings(apollo: Project) -> None:
    client = member(apollo, MEMBER)
    assert client.post(f"/admin/core/project/{apollo.pk}/change/", {"message_hours": "48"}).status_code == 403
    assert config_of(apollo.pk).message_hours == 24


def test_an_emptied_setting_returns_to_its_default(apollo: Project) -> None:
    client = member(apollo, ADMIN)
    save(client, apollo, message_hours="48", time_zone="Europe/Berlin")
    save(client, apollo, message_hours="", time_zone="")
    assert (config_of(apollo.pk).message_hours, config_of(apollo.pk).time_zone) == (24, "UTC")


@pytest.mark.one_engine
def test_a_viewer_reads_the_settings_and_their_defaults(apollo: Project) -> None:
    save(member(apollo, ADMIN, "ada"), apollo, message_hours="48", holidays="2026-12-25")
    page = member(apollo, VIEWER).get(f"/admin/core/project/{apollo.pk}/change/").content.decode()
    text = " ".join(strip_tags(page).split())
    assert "Messages, hours 48 1 to 168." in text
    assert "File changes, days 7 default 1 to 90." in text
    assert "Tell of changes yes default" in text
    assert "Holidays 2026-12-25" in text
    assert 'name="message_hours"' not in page
