"""Links with which a person chooses a new password: made by an administrator, good once, for a day.

They are Django's tokens, which are not stored: a new password or a sign-in makes them invalid.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from ctxhub.core.accounts.access_tokens import PREFIX
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Conflict, NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.leavers.recording import projects_of_account, record_for

CLOSED = "This link has been used, or is older than 24 hours. Ask an administrator for a new one."


@frozen
class NewPasswordLink:
    """`secret`: what the link ends with; logs and texts mask it, and nothing stores it."""

    user: User
    secret: str
    expires_at: datetime


def make_password_link(user: User, *, by: User | None = None) -> NewPasswordLink:
    """`by`: None for a command. Raises Conflict for somebody who is deactivated."""
    _refuse_inactive(user)
    token = default_token_generator.make_token(user)
    secret = PREFIX + urlsafe_base64_encode(f"{user.pk}-{token}".encode())
    for project in projects_of_account(user):
        note = "a link for a new password"
        record_for(user, project, verb="created", subject="password_link", note=note, by=by)
    lasts = timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    return NewPasswordLink(user, secret, clock.now() + lasts)


def find_by_password_link(secret: str) -> User:
    """Whose link it is. Raises NotFound for one that never was, Conflict for one that is good no more."""
    user_id, token = _parts(secret)
    user = User.objects.filter(pk=user_id).first()
    if user is None or token.count("-") != 1:
        raise NotFound("There is no such link.")
    _refuse_inactive(user)
    if not default_token_generator.check_token(user, token):
        raise Conflict(CLOSED)
    return user


def choose_password(secret: str, password: str) -> User:
    """Use up the link: of two at once, one succeeds. All sign-ins of the account end with its old password.

    Raises as `find_by_password_link`. The password is checked by the form.
    """
    with touch_transaction():
        # Another one waits here, and then finds another password.
        User.objects.select_for_update().filter(pk=_parts(secret)[0]).first()
        user = find_by_password_link(secret)
        user.set_password(password)
        user.save(update_fields=["password"])
    return user


def _parts(secret: str) -> tuple[int, str]:
    """The id of the account, 0 for what is no link, and Django's token."""
    try:
        text = urlsafe_base64_decode(secret.removeprefix(PREFIX)).decode()
    except ValueError:
        return 0, ""
    name, _, token = text.partition("-")
    return read_id(name) or 0, token


def _refuse_inactive(user: User) -> None:
    if not user.is_active:
        raise Conflict(
            f"{user.get_username()} is deactivated.",
            hint="A superuser can activate the account before, on its page.",
        )
