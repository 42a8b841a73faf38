"""Projects: made with the words that every team needs, found, and joined by links that work once."""

import hmac
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from ctxhub.core.accounts.access_tokens import digest_of, digests_of, new_secret
from ctxhub.core.accounts.models import Invitation, Membership
from ctxhub.core.accounts.people import find_person
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import ADMIN, Caller, Window
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import OWN_PROJECT, WORD_LENGTH, clean_new_name
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project
from ctxhub.core.vocabulary.names import register_agent

EntryT = TypeVar("EntryT")


def find_again(caller: Caller) -> Caller:
    """The caller in the project of the same name, once the database is another one.

    Its window is in no session there. Raises NotFound if there is none.
    """
    slug = caller.project.slug
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound(
            f"The database was replaced, and the one there now has no project {slug!r}.",
            hint="Ask the administrator; a server for another project is started with --project.",
        )
    return replace(caller, project=project, window=Window())


def by_existing_project(
    entries: Iterable[EntryT], project_of: Callable[[EntryT], int]
) -> list[tuple[int, list[EntryT]]]:
    """The entries of each project; without those of projects that are deleted meanwhile."""
    by_project: dict[int, list[EntryT]] = defaultdict(list)
    for entry in entries:
        by_project[project_of(entry)].append(entry)
    known = Project.objects.filter(pk__in=by_project).values_list("pk", flat=True)
    return [(project_id, by_project[project_id]) for project_id in known]


LAYERS = ("presentation", "business", "data", "infrastructure", "cross-cutting")
TAGS = (
    "authentication",
    "authorization",
    "security",
    "api",
    "database",
    "performance",
    "caching",
    "logging",
    "error-handling",
    "validation",
    "testing",
)

CATEGORIES = ("performance", "architecture", "security")

# Functions of other apps that add rows to a new project; registered in ready().
seeders: list[Callable[[Project], None]] = []


def clean_slug(slug: str) -> None:
    """Raise InvalidInput for a slug that no project may have, Conflict for one that is taken."""
    _check_slug(slug)
    if Project.unscoped.filter(slug=slug).exists():
        raise Conflict(f"There is a project {slug!r} already.")


@transaction.atomic
def create_project(*, slug: str, name: str = "") -> Project:
    """Create a project with its vocabulary. Raises InvalidInput for a bad slug, Conflict if it is taken."""
    _check_slug(slug)
    name = clean_new_name(name or slug, "name")
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    if not is_new:
        raise Conflict(f"There is a project {slug!r} already.")
    seed_vocabulary(project)
    return project


def _check_slug(slug: str) -> None:
    if len(slug) > 100:
        raise InvalidInput(f"slug has {len(slug)} characters; the limit is 100.")
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise InvalidInput(f"slug: {slug!r} may hold letters, digits, '-' and '_' only.") from error
    if slug == OWN_PROJECT:
        raise InvalidInput(f"slug: {OWN_PROJECT!r} stands for the caller's own project in addresses.")


def seed_vocabulary(project: Project) -> None:
    layers = [(project.pk, name, name.casefold(), position) for position, name in enumerate(LAYERS)]
    sql.insert("core_layer", ("project_id", "name", "folded", "position"), layers)
    for table, names in (("core_tag", TAGS), ("core_category", CATEGORIES)):
        words = [(project.pk, name, name.casefold()) for name in names]
        sql.insert(table, ("project_id", "name", "folded"), words)
    for seed in seeders:
        seed(project)


LASTS = timedelta(hours=72)


@frozen
class NewInvitation:
    """A new invitation: its row, and the secret of its link, which is not stored."""

    row: Invitation
    secret: str


def invite(*, caller: Caller, name: str, role: Membership.Role, created_by: User) -> NewInvitation:
    """Create an invitation to the caller's project. `name` says whom it is for."""
    secret = new_secret()
    with write_transaction(caller.project_id):
        row = Invitation.objects.create(
            project=caller.project,
            name=clean_new_name(name, "name", at_most=WORD_LENGTH),
            role=role,
            digest=digest_of(secret),
            created_by=created_by,
            expires_at=clock.now() + LASTS,
        )
        _record(caller, row, "created")
    return NewInvitation(row, secret)


def revoke_invitation(row: Invitation, *, caller: Caller) -> Invitation:
    """Make the link of an open invitation invalid."""
    with write_transaction(row.project_id):
        if _claim(row, revoked_at=clock.now()):
            _record(caller, row, "revoked")
    return row


def find_invitation(secret: str) -> Invitation:
    """The invitation of a link, open or not. Raises NotFound."""
    digests = digests_of(secret)
    row = Invitation.unscoped.select_related("project").filter(digest__in=digests).first()
    if row is None or not any(hmac.compare_digest(row.digest, digest) for digest in digests):
        raise NotFound("There is no such invitation.")
    return row


def why_closed(row: Invitation) -> str:
    """Why nobody can join with the invitation; "" if somebody can."""
    if row.state == "open" and _inviter_is_admin(row):
        return ""
    return {
        "used": "This invitation has been used. Each link works once.",
        "expired": "This invitation has expired. A link is valid for 72 hours.",
        "revoked": "This invitation was revoked.",
    }.get(row.state, "Whoever sent this invitation is no longer an administrator of the project.")


def join(row: Invitation, find_user: Callable[[], User]) -> User:
    """Give the person the role of the invitation, and use it up. Raises Conflict if it is closed.

    `find_user` is called in the transaction: it may create the account. A higher role stays.
    """
    with write_transaction(row.project_id):
        if reason := why_closed(row):
            raise Conflict(reason)
        user = find_user()
        if not _claim(row, used_at=clock.now(), used_by=user):
            raise Conflict(why_closed(row))
        _raise_role(row, user)
        caller = find_person(user, row.project.slug)
        assert caller is not None
        _record(caller, row, "accepted")
    return user


def _inviter_is_admin(row: Invitation) -> bool:
    inviter = row.created_by
    caller = find_person(inviter, row.project.slug) if inviter and inviter.is_active else None
    return caller is not None and ADMIN in caller.scopes


def _claim(row: Invitation, **values: object) -> bool:
    """Store the values if the invitation is still open; of two at once, one succeeds."""
    still_open = Invitation.objects.in_project(row.project_id).filter(
        pk=row.pk, used_at=None, revoked_at=None, expires_at__gt=clock.now()
    )
    is_claimed = bool(still_open.update(**values))
    row.refresh_from_db()
    return is_claimed


def _raise_role(row: Invitation, user: User) -> None:
    membership, is_new = Membership.objects.get_or_create(
        project_id=row.project_id, user=user, defaults={"role": row.role}
    )
    if not is_new and membership.role < row.role:
        membership.role = row.role
        membership.save(update_fields=["role"])


def _record(caller: Caller, row: Invitation, verb: str) -> None:
    """Log it as an event of the hub, which is no news to agents."""
    at = clock.now()
    data = {"note": f"{row.name}: {row.get_role_display()}", "role": row.get_role_display()}
    agent_id = register_agent(caller, at)
    record(
        project_id=row.project_id,
        agent_id=agent_id,
        changes=[Change("hub", verb, row.ref, data)],
        at=at,
    )
