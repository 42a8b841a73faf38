"""The page of a person: who leaves is deactivated with all they made, and a lost password gets a link."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import AccessToken, Project
from tests.people import ADMIN, person, signed_in

CONFIRMED = {"confirmed": "yes"}


@pytest.fixture
def root(db: None) -> Client:
    return signed_in(User.objects.create_superuser("root"))


@pytest.fixture
def grace(apollo: Project) -> User:
    user = person("grace", apollo, ADMIN)
    create_token(project=apollo, name="ci", created_by=user)
    return user


def page_of(user: User, act: str = "change") -> str:
    return reverse(f"admin:auth_user_{act}", args=[user.pk])


def text_of(client: Client, url: str) -> str:
    return re.sub(r"\s+", " ", client.get(url, follow=True).content.decode())


def test_the_confirmation_says_what_ends_and_a_post_ends_it(root: Client, grace: User) -> None:
    signed_in(grace)
    deactivate = page_of(grace, "deactivate")
    assert deactivate in text_of(root, page_of(grace))
    asked = text_of(root, deactivate)
    assert "1 access token that grace made is revoked" in asked
    assert "signed out in 1 browser." in asked
    root.post(deactivate)
    assert User.objects.get(pk=grace.pk).is_active
    assert root.post(deactivate, CONFIRMED)["Location"] == page_of(grace)
    shown = text_of(root, page_of(grace))
    assert "grace is deactivated. Ended: 1 token, 1 sign-in." in shown
    assert deactivate not in shown
    assert not User.objects.get(pk=grace.pk).is_active
    assert AccessToken.unscoped.get().revoked_at
    assert "Deactivated: 1 token, 1 sign-in." in str(LogEntry.objects.get().get_change_message())


def test_who_was_only_made_inactive_can_be_deactivated_with_their_tokens(root: Client, grace: User) -> None:
    User.objects.filter(pk=grace.pk).update(is_active=False)
    shown = text_of(root, page_of(grace))
    assert (page_of(grace, "deactivate") in shown, page_of(grace, "password_link") in shown) == (True, False)
    root.post(page_of(grace, "deactivate"), CONFIRMED)
    assert AccessToken.unscoped.get().revoked_at
    assert page_of(grace, "deactivate") not in text_of(root, page_of(grace))


def test_a_superuser_is_not_offered_to_end_themselves(root: Client) -> None:
    me = User.objects.get(username="root")
    assert page_of(me, "deactivate") not in text_of(root, page_of(me))
    assert "You cannot deactivate yourself" in text_of(root, page_of(me, "deactivate"))
    root.post(page_of(me, "deactivate"), CONFIRMED)
    assert User.objects.get(username="root").is_active


def test_the_link_for_a_password_is_shown_once(root: Client, grace: User) -> None:
    make = page_of(grace, "password_link")
    assert make in text_of(root, page_of(grace))
    assert "/password/ctx_" not in text_of(root, make)
    shown = root.post(make, CONFIRMED).content.decode()
    [link] = re.findall(r"http://testserver(/password/ctx_[\w-]+/)", shown)
    assert Client().get(link)["Location"] == "/password/"
    assert "ctx_" not in text_of(root, page_of(grace))
    assert LogEntry.objects.get().get_change_message() == "Made a link for a new password."


def test_a_deactivated_person_gets_no_link(root: Client, grace: User) -> None:
    root.post(page_of(grace, "deactivate"), CONFIRMED)
    assert "activate the account before" in text_of(root, page_of(grace, "password_link"))
    assert "/password/ctx_" not in root.post(page_of(grace, "password_link"), CONFIRMED).content.decode()


@pytest.mark.parametrize("act", ["deactivate", "password_link"])
def test_administrators_of_a_project_do_neither(act: str, grace: User, apollo: Project) -> None:
    ben = person("ben", apollo, ADMIN)
    assert signed_in(grace).post(page_of(ben, act), CONFIRMED).status_code == 403
    assert User.objects.get(username="ben").is_active


def test_the_list_of_tokens_filters_those_that_are_not_used(root: Client, grace: User) -> None:
    create_token(project=AccessToken.unscoped.get().project, name="fresh")
    AccessToken.unscoped.filter(name="ci").update(created_at="2020-01-01T00:00:00Z")
    shown = text_of(root, f"{reverse('admin:core_accesstoken_changelist')}?use=unused")
    assert (">ci<" in shown or "ci</" in shown, "fresh" in shown) == (True, False)
