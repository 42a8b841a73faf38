"""Who the caller is: the project, the agent, the scopes and the role."""

from typing import Annotated

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.accounts.access_tokens import Scope
from ctxhub.core.accounts.people import choose_broadcasts, find_role, is_superuser, wants_broadcasts
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.rest.operations import operation
from ctxhub.rest.project import caller_in, in_session, only_project, signed_in, speaking
from ctxhub.rest.takes import Takes
from ctxhub.rest.views import HubViewSet
from ctxhub.toolbox.argument_types import About, one_of
from ctxhub.toolbox.common_arguments import AGENT


class InProject(TypedDict, total=False):
    project: Annotated[str, About("In this project; left out where you see only one.")]


class Me(TypedDict):
    project: Annotated[str | None, About("Its slug; null for a person who sees several, and named none.")]
    agent: str
    pinned: Annotated[bool, About("Whether you speak as this agent alone.")]
    scopes: list[Scope]
    role: Annotated[
        str | None, one_of("viewer", "member", "admin", "superuser"), About("A person's; null for a token.")
    ]
    broadcasts: Annotated[
        bool | None, About("Whether a person asked for what goes to everyone; null for a token.")
    ]


class OwnChoices(TypedDict):
    broadcasts: Annotated[bool, About("What goes to everyone from now on is also for you.")]


class MeViewSet(HubViewSet):
    common_parameters = (AGENT.name, *HubViewSet.common_parameters)

    @operation(query=Takes(InProject), responses=Me)
    def retrieve(self, request: Request) -> Response:
        """Who you are: the project and the agent of your token, or of the person signed in."""
        caller = self._find_caller(request)
        if caller is None:
            return Response(_of_person(request))
        self.act_as(in_session(speaking(caller, request, body=None), request))
        return Response(_of_caller(self.caller, request))

    @operation(body=Takes(OwnChoices, example={"broadcasts": True}), responses=OwnChoices)
    def partial_update(self, request: Request) -> Response:
        """Choose for yourself, signed in as a person."""
        if not isinstance(request.user, User):
            raise NotAllowed("A token has no settings of its own.", hint="Sign in to the admin.")
        person = request.user
        choose_broadcasts(person, wanted=self.body["broadcasts"])
        return Response(OwnChoices(broadcasts=wants_broadcasts(person)))

    def _find_caller(self, request: Request) -> Caller | None:
        """Returns None for a person who sees no project, or several, and names none."""
        if slug := self.query.get("project"):
            return caller_in(request, slug)
        try:
            return caller_in(request, only_project(request))
        except InvalidInput:
            return None


def _of_caller(caller: Caller, request: Request) -> Me:
    return Me(
        project=caller.project.slug,
        agent=caller.agent,
        pinned=caller.pinned or caller.is_person,
        scopes=[scope for scope in (READ, WRITE, ADMIN) if caller.may(scope)],
        role=find_role(signed_in(request), caller.project_id) if caller.is_person else None,
        broadcasts=wants_broadcasts(signed_in(request)) if caller.is_person else None,
    )


def _of_person(request: Request) -> Me:
    person = signed_in(request)
    role = "superuser" if is_superuser(person) else None
    wants = wants_broadcasts(person)
    return Me(project=None, agent=person.get_username(), pinned=True, scopes=[], role=role, broadcasts=wants)
