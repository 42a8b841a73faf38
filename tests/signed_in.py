"""REST clients of users who are signed in, with a session cookie and a CSRF token."""

from django.contrib.auth.models import User
from django.test import Client

from ctxhub.core.models import Membership, Project
from tests.hub import LiveHub, RestClient

CSRF = "c" * 32


def sign_in(
    hub: LiveHub,
    username: str,
    project: Project,
    role: Membership.Role | None = None,
    *,
    is_superuser: bool = False,
) -> RestClient:
    """A client of a new user with this role in the project, or without a role."""
    person = User.objects.create_user(username, is_superuser=is_superuser)
    if role is not None:
        Membership.objects.create(project=project, user=person, role=role)
    browser = Client()
    browser.force_login(person)
    cookies = f"sessionid={browser.cookies['sessionid'].value}; csrftoken={CSRF}"
    client = hub.rest(None, project=project.slug)
    client.headers = {"Cookie": cookies, "X-CSRFToken": CSRF}
    return client
