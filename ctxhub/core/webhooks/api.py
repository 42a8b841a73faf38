"""REST views of webhooks and their deliveries, for administrators of a project."""

from typing import Annotated, Any, NotRequired

from django_filters import ChoiceFilter, FilterSet
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.webhooks.addresses import LONGEST_URL
from ctxhub.core.webhooks.models import DeliveryStatus, Webhook, WebhookDelivery, WebhookKind
from ctxhub.core.webhooks.queries import (
    KINDS,
    DeliveryItem,
    WebhookItem,
    deliveries_of,
    delivery_item,
    get_webhook,
    list_deliveries,
    list_webhooks,
    webhook_item,
    webhooks_of,
)
from ctxhub.core.webhooks.services import add_webhook, change_webhook, delete_webhook, send_again, send_test
from ctxhub.rest.answers import page_of
from ctxhub.rest.filters import ordering
from ctxhub.rest.operations import operation
from ctxhub.rest.pages import Page
from ctxhub.rest.preferences import REPRESENTATION, applied, preferred
from ctxhub.rest.takes import ONLY_A_PAGE, Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, AsIds, Number, Words

PRIORITIES = {"enum": ["low", "medium", "high", "critical"]}

Url = Annotated[
    str,
    About(
        "Where the events are posted: https:// or http://, at a public address. It is stored encrypted, and "
        "shown masked.",
        {"minLength": 1, "maxLength": LONGEST_URL},
    ),
]
Kind = Annotated[str, About("What is there: a program (json, left out), or a chat.", {"enum": list(KINDS)})]
Nouns = Annotated[Words, About("Only of these kinds: decision, message; left out: all but `hub`.")]
Verbs = Annotated[Words, About("Only these verbs of the log, or actions: created, set; left out: all.")]
Priorities = Annotated[
    Words, About("Only messages and constraints of these; left out: any, and the rest.", items=PRIORITIES)
]
Active = Annotated[bool, About("Whether it is told anything; one that was off goes on where it stopped.")]


class AddWebhook(TypedDict):
    url: Url
    kind: NotRequired[Kind]
    nouns: NotRequired[Nouns]
    verbs: NotRequired[Verbs]
    priority: NotRequired[Priorities]
    active: NotRequired[Active]


class ChangeWebhook(TypedDict, total=False):
    url: Url
    kind: Kind
    nouns: Nouns | None
    verbs: Verbs | None
    priority: Priorities | None
    active: Active


class SendAgain(TypedDict):
    ids: Annotated[list[Number], AsIds, About("Of dead deliveries.", {"minItems": 1, "maxItems": 50})]


Whole = Annotated[WebhookItem, About("With the header Prefer: return=representation.")]


class NoFields(TypedDict): ...


class WebhookAnswer(TypedDict):
    id: int
    ref: str


class AddedWebhook(WebhookAnswer):
    result: str
    secret: NotRequired[
        Annotated[
            str,
            About("What signs the bodies. It is shown here and never again, nor to a repeated request key."),
        ]
    ]
    webhook: NotRequired[Whole]


class ChangedWebhook(WebhookAnswer):
    changed: Annotated[list[str], About("The names of what differs now.")]
    webhook: NotRequired[Whole]


class SentAgain(WebhookAnswer):
    sent: Annotated[list[int], About("The deliveries that are sent again; those that were not dead are not.")]


class TestedWebhook(WebhookAnswer):
    delivery: DeliveryItem


class WebhookFilter(FilterSet):
    kind = ChoiceFilter(
        choices=[(word, word) for word in KINDS], method="of_kind", help_text="Only of this kind."
    )
    ordering = ordering(created="created_at")

    def of_kind(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(kind=WebhookKind[value.upper()])


class DeliveryFilter(FilterSet):
    status = ChoiceFilter(
        choices=[(str(word), str(word)) for word in DeliveryStatus.labels],
        method="in_status",
        help_text="Only those that wait, were delivered, or were given up (dead).",
    )
    ordering = ordering(created="created_at")

    def in_status(self, rows: Any, name: str, value: str) -> Any:
        return rows.filter(status=DeliveryStatus[value.upper()])


class WebhookViewSet(ProjectViewSet):
    filters = {"list": WebhookFilter}
    queryset = Webhook.unscoped.none()
    has_authors = False
    scopes = dict.fromkeys(("list", "create", "retrieve", "partial_update", "destroy", "test"), ADMIN)
    instead = {"PUT": "PATCH changes what the body names, and leaves the rest."}

    @operation(query=ONLY_A_PAGE, responses=page_of(WebhookItem))
    def list(self, request: Request, slug: str) -> Response:
        """The project's webhooks, newest first, with masked addresses."""
        rows = self.filtered(webhooks_of(self.project_id))
        return self.listed(Page.of(list_webhooks(rows, **self.query)))

    @operation(
        body=Takes(
            AddWebhook, example={"url": "https://example.com/hook", "nouns": ["decision"], "verbs": ["set"]}
        ),
        responses={201: AddedWebhook},
    )
    def create(self, request: Request, slug: str) -> Response:
        """A new webhook, told what happens from now on. `secret` is shown in this answer and never again."""
        secrets: dict[str, str] = {}

        def add() -> dict[str, Any]:
            new = add_webhook(caller=self.caller, **self.body)
            secrets["secret"] = new.secret  # Not in the answer that is stored for a repeated request key.
            return {"id": new.row.pk, "ref": new.row.ref, "result": "created"}

        answer = self.once(add)
        return Response({**answer, **secrets, **self._whole(answer["id"])}, status=201)

    @operation(responses=WebhookItem)
    def retrieve(self, request: Request, slug: str, webhook_id: int) -> Response:
        """One webhook, with its masked address."""
        return Response(webhook_item(get_webhook(self.project_id, webhook_id)))

    @operation(body=Takes(ChangeWebhook, example={"active": False}), responses=ChangedWebhook)
    def partial_update(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Change what the body names. One that is switched on again goes on where it stopped."""

        def change() -> dict[str, Any]:
            changed = change_webhook(caller=self.caller, webhook_id=webhook_id, **self.body)
            return {"id": webhook_id, "ref": f"webhook:{webhook_id}", "changed": changed}

        return Response({**self.once(change), **self._whole(webhook_id)})

    @operation(responses={204: None})
    def destroy(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Delete it with its deliveries. What waits is not sent."""

        def delete() -> dict[str, Any]:
            delete_webhook(caller=self.caller, webhook_id=webhook_id)
            return {"ref": f"webhook:{webhook_id}", "result": "deleted"}

        self.once(delete)
        return Response(status=204)

    @operation(body=Takes(NoFields, name="TestWebhook"), responses={202: TestedWebhook})
    def test(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Have a test sent, once, also to one that is off; `deliveries/` soon tells what came of it."""

        def test() -> dict[str, Any]:
            delivery = send_test(caller=self.caller, webhook_id=webhook_id)
            return {"id": webhook_id, "ref": f"webhook:{webhook_id}", "delivery": delivery_item(delivery)}

        return Response(self.once(test), status=202)

    def _whole(self, webhook_id: int) -> dict[str, Any]:
        is_whole = (preference := preferred(self.request)) == REPRESENTATION
        self.preference = applied(preference, is_whole=is_whole)
        if not is_whole:
            return {}
        return {"webhook": webhook_item(get_webhook(self.project_id, webhook_id))}


class DeliveryViewSet(ProjectViewSet):
    filters = {"list": DeliveryFilter}
    queryset = WebhookDelivery.unscoped.none()
    has_authors = False
    scopes = dict.fromkeys(("list", "again"), ADMIN)

    @operation(query=ONLY_A_PAGE, responses=page_of(DeliveryItem))
    def list(self, request: Request, slug: str, webhook_id: int) -> Response:
        """What was sent in the last 7 days, or waits to be sent again; newest first."""
        get_webhook(self.project_id, webhook_id)
        rows = self.filtered(deliveries_of(self.project_id, webhook_id))
        return self.listed(Page.of(list_deliveries(rows, **self.query)))

    @operation(body=Takes(SendAgain, example={"ids": [7]}), responses={202: SentAgain})
    def again(self, request: Request, slug: str, webhook_id: int) -> Response:
        """Have dead deliveries sent again: marked `redelivered`, out of order, under the same names."""

        def again() -> dict[str, Any]:
            sent = send_again(caller=self.caller, webhook_id=webhook_id, ids=self.body["ids"])
            return {"id": webhook_id, "ref": f"webhook:{webhook_id}", "sent": sent}

        return Response(self.once(again), status=202)
