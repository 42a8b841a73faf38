"""The pages of the admin site and the actions of its lists, and the scope that each needs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.messages import get_messages
from django.urls import URLPattern, reverse

from ctxhub.console.base import ProjectAdmin
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.models import Agent
from tests.roles.people import Asker
from tests.roles.world import World

SUPERUSER = "superusers"
TOKEN = "a token of the project is its administrators'; people see those of their own"
ROWS_OF_THE_HUB = "the hub counts them; an action of the list forgets them"
# What a page needs to be opened, where it is not the scope of its model to view, to add or to delete.
OPENED: dict[str, tuple[str | None, str]] = {
    "core_accesstoken_change": (ADMIN, TOKEN),
    "core_accesstoken_history": (ADMIN, TOKEN),
    "core_accesstoken_rotate": (ADMIN, TOKEN),
    "core_accesstoken_revoke": (ADMIN, TOKEN),
    "core_project_add": (SUPERUSER, "projects are made by those who see all of them"),
    "core_project_delete": (SUPERUSER, "with all that is in it, for good"),
    "core_project_invite": (ADMIN, "it leads to the form of an invitation"),
    "core_binitem_restore": (WRITE, "what was deleted says what it needs; it is never less"),
    "tracking_lease_force_release": (ADMIN, "against its holder"),
    "messaging_message_answer": (None, "it takes answers alone, and leads back"),
    "core_signinfailure_add": (None, ROWS_OF_THE_HUB),
    "core_signinfailure_delete": (None, ROWS_OF_THE_HUB),
}
# What sending to a page needs, where it is not the scope of its model to add, to change or to delete.
SENT: dict[str, tuple[str | None, str]] = {
    "core_accesstoken_add": (READ, "a token of one's own, within one's role"),
    "core_accesstoken_rotate": (ADMIN, TOKEN),
    "core_accesstoken_revoke": (ADMIN, TOKEN),
    "core_agent_give": (ADMIN, "whose a name is, is said by who knows the people"),
    "core_binitem_restore": (ADMIN, "the row is a decision, which an administrator deletes"),
    "core_invitation_revoke": (ADMIN, "as it is made"),
    "core_pathpattern_change": (None, "it leads to the row; an action of the list confirms"),
    "core_project_add": OPENED["core_project_add"],
    "core_project_delete": OPENED["core_project_delete"],
    "core_signinfailure_add": (None, ROWS_OF_THE_HUB),
    "core_signinfailure_change": (None, ROWS_OF_THE_HUB),
    "core_signinfailure_delete": (None, ROWS_OF_THE_HUB),
    "core_webhook_again": (ADMIN, "webhooks are the administrators'"),
    "core_webhook_test": (ADMIN, "webhooks are the administrators'"),
    "core_project_changelist:delete_selected": OPENED["core_project_delete"],
    "core_signinfailure_changelist:delete_selected": (None, ROWS_OF_THE_HUB),
    "auth_user_password_change": (SUPERUSER, "accounts are the hub's"),
    "auth_user_deactivate": (SUPERUSER, "accounts are the hub's"),
    "auth_user_password_link": (None, "a link is not stored, and mia is of no project whose log tells of it"),
    "memory_memory_relate": (WRITE, "as the operation"),
    "memory_memory_restore": (WRITE, "as the operation"),
    "memory_scratchpad_append": (WRITE, "as the operation"),
    "memory_scratchpad_restore": (WRITE, "as the operation"),
    "memory_snapshot_prune": (ADMIN, "as the operation"),
    "messaging_message_answer": (None, "a message is named by a button; test_viewers.py presses them"),
    "messaging_message_for_you": (None, "its buttons send elsewhere"),
    "messaging_message_read": (WRITE, "it takes a reply"),
    "messaging_message_remind": (WRITE, "it writes a message"),
    "tracking_lease_force_release": (ADMIN, "against its holder"),
    "tracking_lease_release": (ADMIN, "against its holder"),
}
# The permissions of actions of lists besides Django's.
PERMITTED = {"restore": ADMIN, "revoke": ADMIN, "release": ADMIN}
# Members may choose the action, which finds their own tokens alone.
OWN_ALONE = {"core_accesstoken_changelist:revoke_selected"}
# They show a part of a row that the query names.
OF_A_PART = {"agent_sessions_agentsession_conversation", "agent_sessions_agentsession_item"}
MISSING = "doesn’t exist|There is no|You can read|Only an admin|needs the scope"

# What differs between two answers to the same request.
DRAWN = r'(name="(?:csrfmiddlewaretoken|once)"[^>]* value=|X-CSRFToken[^>]{1,20}: )"[^"]+"'


@dataclass(frozen=True)
class Page:
    """`name`: of its URL, and of the action that is chosen in a list. `row`: that of its model.

    `kind`: `add`, `read`, `close`.
    """

    name: str
    model_admin: Any
    row: Any
    url: str
    kind: str
    action: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def to_open(self) -> str | None:
        """None: nobody may."""
        if self.name in OPENED:
            return OPENED[self.name][0]
        action = self._row_actions.get(self.kind)
        if self.kind in ("add", "delete"):
            return self._scope(self.kind)
        return self._scope("change" if action and action.template else "view")

    @property
    def to_send(self) -> str | None:
        """None: nobody changes anything by it."""
        if self.name in SENT:
            return SENT[self.name][0]
        if self.action:
            return self._scope_of_action()
        is_edited = getattr(self.model_admin, "has_change_form", True)
        if self.kind in ("add", "delete") or (self.kind == "change" and is_edited):
            return self._scope(self.kind)
        return self._scope("change") if self.kind in self._row_actions else None

    @property
    def _row_actions(self) -> dict[str, Any]:
        return {action.name: action for action in getattr(self.model_admin, "row_actions", ())}

    def _scope_of_action(self) -> str | None:
        if self.action == "delete_selected":
            return self._scope("delete")
        found = next(each for each in self.model_admin.actions if self.action in (each, _name(each)))
        action = getattr(self.model_admin, found) if isinstance(found, str) else found
        [permission] = getattr(action, "allowed_permissions", ["view"])
        return PERMITTED.get(permission) or self._scope(permission)

    def _scope(self, doing: str) -> str | None:
        if isinstance(self.model_admin, ProjectAdmin):
            scope: str | None = getattr(self.model_admin, f"{doing}_scope")
            return scope
        return SUPERUSER


def _name(action: Any) -> str:
    return action if isinstance(action, str) else str(action.__name__)


def may(asker: Asker, scope: str | None) -> bool:
    if not asker.is_staff or scope is None:
        return False
    return asker.is_superuser if scope == SUPERUSER else asker.may(scope)


def pages(world: World) -> Iterator[Page]:
    """Every page of every model that is registered."""
    for model, model_admin in admin.site._registry.items():
        for pattern in model_admin.get_urls():
            if pattern.name:
                yield _page(world, model, model_admin, pattern)


def _page(world: World, model: Any, model_admin: Any, pattern: URLPattern) -> Page:
    takes = [*pattern.pattern.converters, *re.findall("<([a-z]+)>", str(pattern.pattern))]
    row = world.rows[Agent if takes == ["agent_id"] else model]
    name = str(pattern.name)
    kind = name.removeprefix(f"{model_admin.opts.app_label}_{model_admin.opts.model_name}_")
    url = reverse(f"admin:{name}", args=[row.pk] if takes else [])
    return Page(name, model_admin, world.rows[model], url if takes else f"{url}?project=apollo", kind)


def actions(world: World) -> Iterator[Page]:
    """Every action of every list."""
    for model_admin in admin.site._registry.values():
        name = f"{model_admin.opts.app_label}_{model_admin.opts.model_name}_changelist"
        for action in (*map(_name, model_admin.actions or ()), "delete_selected"):
            kind = action.removesuffix("_selected")
            row = world.rows[model_admin.model]
            yield Page(f"{name}:{action}", model_admin, row, reverse(f"admin:{name}"), kind, action)


# -- What is answered --------------------------------------------------------------------------------


def notices(reply: Any) -> str:
    """What the next page will say."""
    return " ".join(str(message) for message in get_messages(reply.wsgi_request))


def is_opened(reply: Any, page: Page) -> bool:
    """Whether the page is there for who asks; some lead to another page, or take POST alone."""
    if reply.status_code == 302:
        return "/login/" not in reply["Location"] and not re.search(MISSING, notices(reply))
    return reply.status_code in (200, 405) or (reply.status_code == 404 and page.name in OF_A_PART)


def shown(reply: Any) -> tuple[Any, ...]:
    return reply.status_code, reply.headers.get("Location"), notices(reply)
