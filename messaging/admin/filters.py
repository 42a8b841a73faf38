"""List filters of the message admin."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.filters import NameFilter
from ctxhub.core.admin.unfold_compat import DropdownFilter, TextFilter
from ctxhub.core.kit import clock
from ctxhub.core.models import Agent
from messaging.models import Delivery, RequestState
from messaging.models.delivery import ACK_OWED, READ_OWED
from messaging.selectors.request_states import STATES

UNACKED = Exists(Delivery.unscoped.filter(ACK_OWED, message=OuterRef("pk")))


def is_open() -> Q:
    """Condition for open requests, including those whose claim has expired."""
    expired = Q(state=RequestState.CLAIMED, claimed_until__lte=clock.now())
    return Q(state=RequestState.OPEN) | expired


class SenderFilter(NameFilter):
    title = parameter_name = "from"
    model, lookup = Agent, "sender"


class RecipientFilter(TextFilter):
    title = parameter_name = "to"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = (self.value() or "").strip().casefold()
        if not name:
            return queryset
        return queryset.filter(pk__in=Delivery.unscoped.filter(folded=name).values("message"))


class StateFilter(DropdownFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state) for state in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        states = {
            "open": is_open(),
            "claimed": Q(state=RequestState.CLAIMED, claimed_until__gt=clock.now()),
            "done": Q(state=RequestState.DONE),
        }
        return queryset.filter(states.get(str(self.value()), Q()))


class WaitingFilter(DropdownFilter):
    """Filters messages by what is still pending: an urgent read or an acknowledgement.

    Together with the filter `to`: pending from that recipient.
    """

    title = "waits for"
    parameter_name = "waits"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("urgent", "an urgent message to be read"),
            ("ack", "an acknowledgement"),
            ("late", "a late acknowledgement"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = request.GET.get("to", "").strip().casefold()
        to = Delivery.unscoped.filter(message=OuterRef("pk"), **({"folded": name} if name else {}))
        unread, unacked = Exists(to.filter(READ_OWED)), Exists(to.filter(ACK_OWED))
        conditions = {
            "urgent": Q(unread),
            "ack": Q(ack=True) & Q(unacked),
            "late": Q(ack_overdue=True) & Q(unacked),
        }
        return queryset.filter(conditions.get(str(self.value()), Q()))
