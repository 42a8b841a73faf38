"""Creates the first user who can sign in to the admin."""

import secrets
import sys
from contextlib import suppress
from itertools import count

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError

from ctxhub import env
from ctxhub.core.accounts.people import refuse_taken_username
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.frozen import frozen

FIRST_USERNAME = "admin"


@frozen
class Signin:
    """A user name; the password is set only when it was just generated and may be shown."""

    username: str
    password: str = ""


def ensure_superuser(*, ask: bool) -> Signin:
    """The existing superuser, else a new one.

    A new one is created by a prompt, or from DJANGO_SUPERUSER_*, or with a random password as `admin`, or as
    `admin-2` if an agent is called so.
    """
    users = get_user_model()._default_manager
    wanted = env.text("DJANGO_SUPERUSER_USERNAME")
    superusers = users.filter(is_superuser=True, is_active=True, **({"username": wanted} if wanted else {}))
    if first := superusers.order_by("pk").first():
        return Signin(first.get_username())
    given_password = env.text("DJANGO_SUPERUSER_PASSWORD")
    if ask and not given_password and sys.stdin.isatty():
        call_command("createsuperuser", **({"username": wanted} if wanted else {}))
        return Signin(superusers.order_by("pk").get().get_username())
    username = wanted or _free_username()
    if users.filter(username=username).exists():
        raise CommandError(
            f"There is a user {username!r} who is no active superuser. "
            "Make them one, or name another in DJANGO_SUPERUSER_USERNAME."
        )
    try:
        refuse_taken_username(username, project_ids=None)
    except Conflict as error:
        raise CommandError(f"DJANGO_SUPERUSER_USERNAME: {error.message}") from error
    password = given_password or secrets.token_hex(8)
    get_user_model().objects.create_superuser(
        username=username, email=env.text("DJANGO_SUPERUSER_EMAIL"), password=password
    )
    return Signin(username, "" if given_password else password)


def _free_username() -> str:
    """`admin`, or the next name if an agent is called so: a superuser acts in every project as their name."""
    for number in count(1):
        username = FIRST_USERNAME if number == 1 else f"{FIRST_USERNAME}-{number}"
        if get_user_model()._default_manager.filter(username=username).exists():
            return username
        with suppress(Conflict):
            refuse_taken_username(username, project_ids=None)
            return username
    raise AssertionError
