"""What each role may do in the admin of its project."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.people import ADMIN, VIEWER, member, person, signed_in


@pytest.fixture
def decision(ada: Caller) -> Decision:
    result = set_decision(caller=ada, key="api/auth", value="JWT")
    return Decision.objects.in_project(ada.project).get(pk=result["id"])


def test_a_role_in_one_project_gives_no_rights_in_another(
    apollo: Project, hermes: Project, decision: Decision
) -> None:
    """Vi is an administrator of hermes and a viewer of apollo."""
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=ADMIN)
    client = signed_in(user)
    assert client.get(f"/admin/memory/decision/{decision.pk}/").status_code == 200
    assert client.get(f"/admin/memory/decision/{decision.pk}/delete/").status_code == 403
    form = {"action": "delete_selected", "_selected_action": [decision.pk], "post": "yes"}
    assert client.post("/admin/memory/decision/", form).status_code == 403
    assert Decision.unscoped.filter(pk=decision.pk).exists()


def test_a_person_without_a_project_sees_a_friendly_index(db: None) -> None:
    nobody = User.objects.create_user("nobody", is_staff=True)
    page = signed_in(nobody).get("/admin/")
    assert "You are not a member of any project yet" in page.content.decode()


def test_a_member_who_is_not_staff_cannot_sign_in_to_the_admin(apollo: Project) -> None:
    User.objects.create_user("vi", is_staff=False)
    client = member(apollo, username="vi")
    assert client.get("/admin/").status_code == 302


def test_a_former_member_sees_nothing(apollo: Project, decision: Decision) -> None:
    client = member(apollo)
    Membership.objects.all().delete()
    assert client.get(f"/admin/memory/decision/{decision.pk}/").status_code == 302
    assert client.get("/admin/memory/decision/").status_code == 403


def test_the_sidebar_shows_what_a_person_may_see(client: Client, apollo: Project) -> None:
    page = member(apollo, VIEWER).get("/admin/").content.decode()
    assert "Decisions" in page
    assert "Access tokens" in page
    assert "Invitations" not in page
    assert "Users" not in page
