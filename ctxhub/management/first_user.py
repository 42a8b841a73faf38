"""Creates the first user who can sign in to the admin."""

import secrets
import sys

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError

from ctxhub import env
from ctxhub.core.kit.frozen import frozen


@frozen
class Signin:
    """A user name; the password is set only when it was just generated and may be shown."""

    username: str
    password: str = ""


def ensure_superuser(*, ask: bool) -> Signin:
    """The existing superuser, else a new one.

    A new one is created by a prompt, or from DJANGO_SUPERUSER_*, or as `admin` with a random password.
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
    username = wanted or "admin"
    if users.filter(username=username).exists():
        raise CommandError(
            f"There is a user {username!r} who is no active superuser. "
            "Make them one, or name another in DJANGO_SUPERUSER_USERNAME."
        )
    password = given_password or secrets.token_hex(8)
    get_user_model().objects.create_superuser(
        username=username, email=env.text("DJANGO_SUPERUSER_EMAIL"), password=password
    )
    return Signin(username, "" if given_password else password)
