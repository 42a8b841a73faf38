"""Somebody leaves: their account, their sign-ins and every token they made end in one step."""

from collections import defaultdict

from django.contrib.auth.models import User

from ctxhub.core.accounts.access_tokens import revoke_token
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.leavers.recording import made_by, projects_of_account, record_for
from ctxhub.core.leavers.sign_ins import count_sign_ins, end_sign_ins
from ctxhub.core.models import AccessToken
from ctxhub.core.text.plurals import counted


@frozen
class Ended:
    """What ends, or has ended, when a person is deactivated: their usable tokens, and their sign-ins."""

    tokens: int
    sign_ins: int

    def __str__(self) -> str:
        return f"{counted(self.tokens, 'tokens')}, {counted(self.sign_ins, 'sign-ins')}"


def what_would_end(user: User) -> Ended:
    return Ended(len(made_by(user)), count_sign_ins(user))


def deactivate_person(user: User, *, by: User | None = None) -> Ended:
    """End the account, its sign-ins and all tokens that the person made or owns, in every project.

    What their agents saved stays, and so do memberships: who comes back is activated, with new tokens.
    Done again, it ends what came since. `by`: None for a command. Raises Conflict for oneself, and for the
    last superuser.
    """
    why_not = why_not_deactivated(user, by=by)
    if why_not:
        raise Conflict(why_not)
    with touch_transaction():
        # The locks of the projects come before any row's: see acquire_write_lock.
        tokens = _revoke(user, by)
        ended = Ended(tokens, end_sign_ins(user))
        user.is_active = False
        user.save(update_fields=["is_active"])
    return ended


def why_not_deactivated(user: User, *, by: User | None = None) -> str:
    """Why the person cannot be deactivated; "" if they can."""
    if by is not None and by.pk == user.pk:
        return "You cannot deactivate yourself: ask another superuser."
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and user.is_active and not others.exists():
        return f"{user.get_username()} is the only superuser: make another one before."
    return ""


def _revoke(user: User, by: User | None) -> int:
    tokens: dict[int, list[AccessToken]] = defaultdict(list)
    for token in made_by(user):
        tokens[token.project_id].append(token)
    for project in projects_of_account(user):
        with write_transaction(project.pk):
            for token in tokens[project.pk]:
                revoke_token(token)
            note = f"deactivated, with {counted(len(tokens[project.pk]), 'tokens')}"
            record_for(user, project, verb="deactivated", subject="person", note=note, by=by)
    return sum(map(len, tokens.values()))
