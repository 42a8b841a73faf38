"""The log of what was done to an account: in each project that the person has something to do with."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from ctxhub.core.accounts.people import find_person
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import AccessToken, Membership, Project
from ctxhub.core.vocabulary.names import register_agent


def made_by(user: User) -> list[AccessToken]:
    """The tokens that the person made, or that are their own, which still may be used, by project."""
    return [token for token in _all_made_by(user) if token.is_usable]


def projects_of_account(user: User) -> list[Project]:
    """Where they are a member or have made a token, in the order in which writers lock projects."""
    ids = {*Membership.objects.filter(user=user).values_list("project_id", flat=True)}
    ids |= {token.project_id for token in _all_made_by(user)}
    return list(Project.objects.filter(pk__in=ids).order_by("pk"))


def _all_made_by(user: User) -> Iterable[AccessToken]:
    tokens = AccessToken.unscoped.filter(created_by=user) | AccessToken.unscoped.filter(owner=user)
    return tokens.select_related("project").order_by("project_id", "pk")


def record_for(user: User, project: Project, *, verb: str, subject: str, note: str, by: User | None) -> None:
    """Log it as an event of the hub, which is no news to agents. `by`: None for a command."""
    at = clock.now()
    caller = find_person(by, project.slug) if by else None
    with write_transaction(project.pk):
        agent_id = register_agent(caller, at) if caller else None
        change = Change("hub", verb, f"{subject}:{user.pk}", {"note": f"{user.get_username()}: {note}"})
        record(project_id=project.pk, agent_id=agent_id, changes=[change], at=at)
