"""The tables of roles in the documentation are those of the walk."""

from pathlib import Path

from django.utils.text import capfirst

from ctxhub.core.accounts.people import SCOPES_OF_ROLE
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from tests.roles.admin_pages import SUPERUSER, pages
from tests.roles.world import World

DOCUMENT = Path(__file__).parents[2] / "docs" / "administration.md"
HEAD = "| rows | seen by | added by | changed by | deleted by |\n|---|---|---|---|---|\n"
ROLES = {READ: "viewers", WRITE: "members", ADMIN: "admins", SUPERUSER: "superusers", None: "nobody"}


def table(world: World) -> str:
    """The models of the admin, those of the same rights in one line."""
    rights: dict[str, dict[str, str]] = {}
    for page in pages(world):
        name = capfirst(str(page.model_admin.opts.verbose_name_plural))
        if page.kind == "changelist":
            rights.setdefault(name, {})["see"] = ROLES[page.to_open]
        elif page.kind in ("add", "change", "delete"):
            rights.setdefault(name, {})[page.kind] = ROLES[page.to_send]
    lines: dict[tuple[str, ...], list[str]] = {}
    for name, found in rights.items():
        lines.setdefault(tuple(found[doing] for doing in ("see", "add", "change", "delete")), []).append(name)
    told = (f"| {', '.join(sorted(named))} | {' | '.join(right)} |" for right, named in lines.items())
    return HEAD + "\n".join(told) + "\n"


def test_the_table_of_rows_is_what_the_pages_ask_for(world: World) -> None:
    assert table(world) in DOCUMENT.read_text(), f"docs/administration.md says otherwise:\n\n{table(world)}"


def test_the_scopes_of_the_roles_are_told() -> None:
    text = DOCUMENT.read_text()
    for role, scopes in SCOPES_OF_ROLE.items():
        told = ", ".join(f"`{scope}`" for scope in (READ, WRITE, ADMIN) if scope in scopes)
        assert f"| {_name(str(role.label))} | that project | {told} | " in text, (role, told)


def _name(role: str) -> str:
    return "admin of a project" if role == "admin" else role
