"""Keeps the agents as which people act: under new usernames, and apart from other agents."""

from collections.abc import Collection

from django.contrib.auth.models import AbstractUser
from django.dispatch import Signal

from ctxhub.core.accounts.selectors.names_of_people import acting_name, forget_names
from ctxhub.core.accounts.selectors.namesakes import refuse_taken_username
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.models import Agent, Membership

# Sent in the transaction that renames the agent of a person. Arguments: project_id, was, name.
person_renamed = Signal()


def check_username(user: AbstractUser, username: str, *, joins: Collection[int] = ()) -> None:
    """Raise Conflict if the person would act as somebody else, in their projects or in those they join."""
    refuse_taken_username(
        username,
        project_ids=None if user.is_superuser else {*joins, *_projects_of(user)},
        account=user.pk,
    )


def check_new_member(membership: Membership) -> None:
    """Raise Conflict if the person would act as an agent of the project. Waits for its writers."""
    acquire_write_lock(membership.project_id)
    refuse_taken_username(
        membership.user.get_username(), project_ids=[membership.project_id], account=membership.user_id
    )


def rename_person(user: AbstractUser, was: str) -> None:
    """Give the agents as which a person has acted their new username, so that their mail follows them."""
    old, new = acting_name(was), acting_name(user.get_username())
    agents = Agent.unscoped.filter(folded=old.casefold(), kind=Agent.Kind.HUMAN)
    if not user.is_superuser:
        agents = agents.filter(project__in=_projects_of(user))
    for agent in agents.order_by("project_id"):
        with write_transaction(agent.project_id):
            others = Agent.objects.in_project(agent.project_id).filter(folded=new.casefold())
            if not others.exclude(pk=agent.pk).exists():
                agent.name = new
                agent.save(update_fields=["name"])
                person_renamed.send(None, project_id=agent.project_id, was=old, name=new)
    forget_names()


def give_to_person(agent: Agent) -> None:
    """Say that the agent is the person of its name, whom other agents no longer speak as."""
    with write_transaction(agent.project_id):
        agent.kind = Agent.Kind.HUMAN
        agent.save(update_fields=["kind"])
    forget_names()


def _projects_of(user: AbstractUser) -> list[int]:
    memberships = Membership.objects.filter(user_id=user.pk)
    return list(memberships.values_list("project_id", flat=True))
