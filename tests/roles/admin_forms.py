"""What a person sends to a page of the admin so that something changes, and what has to be there for it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, WebhookDelivery
from ctxhub.core.webhooks.models import DeliveryStatus
from ctxhub.toolbox.dispatch import call
from messaging.models import Message
from tests.contract.pages import PAGES
from tests.memory.saved import saved
from tests.roles.admin_pages import Page
from tests.roles.people import Asker
from tests.roles.world import World
from tracking.models import Lease

Json = dict[str, Any]

CONTRACTS = {page.model: page for page in PAGES}
CONFIRMED = {"post": "yes", "confirmed": "yes"}
NO_INLINES = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
NEW = {
    "once": "o-1",
    "name": "fresh",
    "slug": "ceres",
    "scopes": ["read"],
    "lasts": "90",
    "role": "1",
    "grace": "24h",
    "url": "https://example.org/",
    "kind": "json",
    "username": "fay",
    "limit": "200",
    "password1": "correct-horse-9",
    "password2": "correct-horse-9",
    "set-password": "yes",
    "reason": "So.",
    "text": "So.",
    "content": "So.",
    "seen": "1",
    "revision": "1",
    "importance": "7",
}
CHANGED = {"name": "renamed", "nouns": ["decision"], "first_name": "Vi"}


def form_of(asker: Asker, page: Page, world: World) -> Json:
    """The form as it is opened, with something new in it."""
    contract, row = CONTRACTS.get(page.model_admin.model), page.row
    new: Json = dict(NEW)
    if contract:
        new |= {name: value.replace("{workflow}", _workflow(row)) for name, value in contract.form.items()}
        new |= {**contract.posts, **contract.edits}
    if page.kind == "change":
        new = {**_opened(asker, page), **(contract.edits if contract else CHANGED)}
    named = NAMED[page.name](world) if page.name in NAMED else {}
    if page.action:  # Django takes no action of a list that is saved.
        return {**new, **CONFIRMED, "action": page.action, "_selected_action": [row.pk]}
    return {**NO_INLINES, **new, **named, **CONFIRMED, "_save": "Save"}


def _workflow(row: Any) -> str:
    return str(getattr(row, "workflow_id", ""))


def _opened(asker: Asker, page: Page) -> Json:
    reply: Any = asker.browser().get(page.url)
    shown = reply.context_data.get("adminform") if reply.status_code == 200 else None
    if shown is None:
        return {}
    fields = shown.form.fields
    values = {name: fields[name].prepare_value(shown.form[name].value()) for name in fields}
    return {name: value for name, value in values.items() if value is not None}


# What buttons of other pages name.
NAMED: dict[str, Callable[[World], Json]] = {
    "memory_memory_restore": lambda world: {"seen": "2"},
    "memory_scratchpad_restore": lambda world: {"seen": "2"},
    "core_agent_give": lambda world: {"agent": world.rows[Agent].pk},
    "core_webhook_again": lambda world: {"delivery": [world.ids["delivery"]]},
    "messaging_message_remind": lambda world: {"agent": "ada"},
    "tracking_lease_release": lambda world: {"leases": str(world.ids["lease"])},
}


def _of_a_person(world: World, row: Any) -> None:
    Agent.unscoped.filter(pk=row.pk).update(name="member-1", folded="member-1")


def _dead(world: World, row: Any) -> None:
    deliveries = WebhookDelivery.unscoped.filter(pk=world.ids["delivery"])
    deliveries.update(webhook=row, status=DeliveryStatus.DEAD, is_aside=False)


def _overdue(world: World, row: Any) -> None:
    past = clock.now() - timedelta(hours=1)
    Message.unscoped.filter(pk=world.ids["message"]).update(ack_due_at=past, ack_overdue=True)


def _ada(world: World, tool: str, **arguments: Any) -> None:
    call(Caller(project=world.apollo, agent="ada"), tool, arguments)


def _live(world: World, row: Any) -> None:
    Lease.unscoped.filter(pk=row.pk).update(expires_at=clock.now() + timedelta(hours=1), released_at=None)


# What has to be done before there is something to do for a page.
TODO: dict[str, Callable[[World, Any], object]] = {
    "core_agent_give": _of_a_person,
    "core_webhook_again": _dead,
    "memory_constraint_activate": lambda world, row: _ada(
        world, "constraint", action="deactivate", id=row.pk
    ),
    "memory_memory_restore": lambda world, row: _ada(world, "memory", action="update", id=row.pk, title="t"),
    "memory_scratchpad_restore": lambda world, row: _ada(
        world, "scratchpad", action="append", scratchpad_id=row.pk, content="More."
    ),
    "memory_snapshot_prune": lambda world, row: saved(world.apollo, age=720),
    "memory_workflow_reopen": lambda world, row: _ada(
        world, "scratchpad", action="close_workflow", workflow_id=row.pk
    ),
    "messaging_message_remind": _overdue,
    "tracking_lease_force_release": _live,
}
# And for the actions of lists that do the same.
TODO |= {
    f"{name}_changelist:{action}_selected": TODO[f"{name}_{action}"]
    for name, action in (
        ("memory_constraint", "activate"),
        ("memory_workflow", "reopen"),
        ("tracking_lease", "force_release"),
    )
}
