"""The project that a person chose stays chosen from page to page, until they choose all projects."""

import pytest
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.people import ADMIN, VIEWER, member, person, signed_in

pytestmark = pytest.mark.one_engine

DECISIONS, LEASES = "/admin/memory/decision/", "/admin/tracking/lease/"


@pytest.fixture
def client(apollo: Project, hermes: Project) -> Client:
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=VIEWER)
    return signed_in(user)


def shown(client: Client, path: str) -> str:
    """The address that the person ends at."""
    answer = client.get(path, follow=True)
    assert answer.status_code == 200
    return answer.redirect_chain[-1][0] if answer.redirect_chain else path


def test_the_choice_is_kept_from_list_to_page_to_list(client: Client, ada: Caller, cy: Caller) -> None:
    set_decision(caller=ada, key="of/apollo", value="1")
    set_decision(caller=cy, key="of/hermes", value="1")
    decision = Decision.unscoped.get(key="of/hermes")
    assert shown(client, DECISIONS) == DECISIONS
    client.get(f"{LEASES}?project=apollo")
    assert shown(client, f"/admin/memory/decision/{decision.pk}/") == f"/admin/memory/decision/{decision.pk}/"
    assert shown(client, f"{DECISIONS}?status__exact=1") == f"{DECISIONS}?status__exact=1&project=apollo"
    text = client.get(DECISIONS, follow=True).content.decode()
    assert "of/apollo" in text
    assert "of/hermes" not in text
    for page in ("/admin/", "/admin/search/", "/admin/core/event/timeline/"):
        assert shown(client, page) == f"{page}?project=apollo"
    assert shown(client, "/admin/core/project/") == "/admin/core/project/"


@pytest.mark.parametrize("page", ["/admin/", DECISIONS])
def test_the_choice_is_cleared_by_all_projects(page: str, client: Client) -> None:
    client.get(f"{DECISIONS}?project=apollo")
    text = client.get(page, follow=True).content.decode()
    assert f'href="{"/admin/" if page == "/admin/" else ""}?project="' in text
    client.get(f"{page}?project=")
    assert shown(client, LEASES) == LEASES


def test_a_project_that_the_person_cannot_see_is_not_remembered(
    client: Client, apollo: Project, hermes: Project
) -> None:
    Project.objects.create(slug="zeus", name="Zeus")
    client.get(f"{DECISIONS}?project=zeus")
    assert shown(client, DECISIONS) == DECISIONS
    client.get(f"{DECISIONS}?project=hermes")
    Membership.objects.filter(project=hermes, user__username="vi").delete()
    assert shown(client, DECISIONS) == DECISIONS
    assert "project" not in client.session


def test_whoever_has_one_project_has_no_choice(apollo: Project) -> None:
    client = member(apollo, ADMIN)
    client.get(f"{DECISIONS}?project=apollo")
    assert shown(client, DECISIONS) == DECISIONS
