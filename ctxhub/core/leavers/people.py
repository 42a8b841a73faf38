"""The people of the hub, as its administrators see them."""

from collections.abc import Sequence
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time, now
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import AccessToken
from ctxhub.toolbox.argument_types import About, Time

COLUMNS = ("username", "name", "active", "superuser", "tokens", "last_sign_in", "joined")


class Person(TypedDict):
    username: str
    name: str
    active: Annotated[bool, About("false: deactivated, and cannot sign in.")]
    superuser: bool
    tokens: Annotated[int, About("That they made, or that are their own, and that are good.")]
    last_sign_in: Time | None
    joined: Time


def list_people(people: QuerySet[User], *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A page of people: rows as in `COLUMNS`."""
    return page_of(people, COLUMNS, _rows, limit=limit, cursor=cursor)


def people() -> QuerySet[User]:
    """All of them by name, each with the number of their tokens."""
    good = Q(expires_at=None) | Q(expires_at__gt=now())
    theirs = Q(created_by=OuterRef("pk")) | Q(owner=OuterRef("pk"))
    tokens = AccessToken.unscoped.filter(good, theirs, revoked_at=None).order_by()
    number = tokens.annotate(all=Value(1)).values("all").annotate(number=Count("pk"))
    return User.objects.annotate(tokens=Coalesce(Subquery(number.values("number")), 0)).order_by("username")


def find_by_username(username: str) -> User:
    """Raises NotFound."""
    if found := people().filter(username=username).first():
        return found
    raise NotFound(f"Nobody is called {shown(username)}.", hint="people/ lists all of them.")


def person_item(user: User) -> dict[str, Any]:
    """A person as REST shows them, read by `people`."""
    return dict(
        Person(
            username=user.get_username(),
            name=user.get_full_name(),
            active=user.is_active,
            superuser=user.is_superuser,
            tokens=user.tokens,  # type: ignore[attr-defined]
            last_sign_in=format_time(user.last_login) if user.last_login else None,
            joined=format_time(user.date_joined),
        )
    )


def _rows(found: Sequence[User]) -> list[list[Any]]:
    return [list(person_item(user).values()) for user in found]
