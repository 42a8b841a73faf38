"""Users of the admin with a role in a project, and clients that are signed in."""

from django.contrib.auth.models import User
from django.test import Client

from ctxhub.core.models import Membership, Project

VIEWER, MEMBER, ADMIN = Membership.Role.VIEWER, Membership.Role.MEMBER, Membership.Role.ADMIN


def person(username: str, project: Project, role: Membership.Role = MEMBER) -> User:
    """A member of a project who can sign in."""
    user, _ = User.objects.get_or_create(username=username, defaults={"is_staff": True})
    Membership.objects.create(project=project, user=user, role=role)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def member(project: Project, role: Membership.Role = MEMBER, username: str = "vi") -> Client:
    return signed_in(person(username, project, role))


def superuser() -> Client:
    return signed_in(User.objects.create_superuser("root"))
