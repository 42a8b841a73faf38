"""The people of the hub, for superusers: listed, deactivated when they leave, led to a new password."""

from typing import Annotated

from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.accounts.people import is_superuser
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotAllowed
from ctxhub.core.leavers.leaving import deactivate_person, what_would_end
from ctxhub.core.leavers.password_links import make_password_link
from ctxhub.core.leavers.people import Person, find_by_username, list_people, people, person_item
from ctxhub.rest.answers import page_of
from ctxhub.rest.filters import PersonFilter
from ctxhub.rest.operations import operation
from ctxhub.rest.pages import Page
from ctxhub.rest.takes import ONLY_A_PAGE
from ctxhub.rest.views import HubViewSet
from ctxhub.toolbox.argument_types import About, Time


class PersonSeen(Person):
    sign_ins: Annotated[int, About("In how many browsers they are signed in.")]


class Deactivated(TypedDict):
    username: str
    active: bool
    tokens: Annotated[int, About("That were revoked.")]
    sign_ins: Annotated[int, About("That were ended.")]


class PasswordLink(TypedDict):
    username: str
    link: Annotated[str, About("It works once. It is shown here and never again.")]
    expires: Time


class PeopleViewSet(HubViewSet):
    filters = {"list": PersonFilter}
    queryset = User.objects.none()

    @operation(query=ONLY_A_PAGE, responses=page_of(Person))
    def list(self, request: Request) -> Response:
        """The accounts of the hub, by name. A superuser's."""
        return self.listed(Page.of(list_people(self.filtered(people()), **self.query)))

    @operation(responses=PersonSeen)
    def retrieve(self, request: Request, username: str) -> Response:
        """An account, with what ends when it is deactivated: tokens and sign-ins. A superuser's."""
        user = find_by_username(username)
        return Response({**person_item(user), "sign_ins": what_would_end(user).sign_ins})

    @operation(responses=Deactivated)
    def deactivate(self, request: Request, username: str) -> Response:
        """End an account, its sign-ins and every token that the person made. What was saved stays.

        A superuser's; nobody deactivates themselves, or the only superuser.
        """
        user = find_by_username(username)
        ended = deactivate_person(user, by=self.superuser)
        return Response(
            Deactivated(username=username, active=False, tokens=ended.tokens, sign_ins=ended.sign_ins)
        )

    @operation(responses={201: PasswordLink})
    def password_link(self, request: Request, username: str) -> Response:
        """A link with which they choose a new password: once, within 24 hours. A superuser's."""
        new = make_password_link(find_by_username(username), by=self.superuser)
        link = base_url(request.build_absolute_uri("/")) + reverse("password_link", args=[new.secret])
        answer = PasswordLink(username=username, link=link, expires=format_time(new.expires_at))
        return Response(answer, status=201)

    def check_place(self, request: Request, **where: object) -> None:
        if not isinstance(request.user, User) or not is_superuser(request.user):
            raise NotAllowed("Only a superuser, signed in, sees the people of the hub.")
        self.superuser = request.user
