"""Creates projects, with the layers, tags and categories that every team needs."""

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.core.kit.inputs import OWN_PROJECT, clean_new_name
from ctxhub.core.models import Project

LAYERS = ("presentation", "business", "data", "infrastructure", "cross-cutting")
TAGS = (
    "authentication",
    "authorization",
    "security",
    "api",
    "database",
    "performance",
    "caching",
    "logging",
    "error-handling",
    "validation",
    "testing",
)

CATEGORIES = ("performance", "architecture", "security")

# Functions of other apps that add rows to a new project; registered in ready().
seeders: list[Callable[[Project], None]] = []


def clean_slug(slug: str) -> None:
    """Raise InvalidInput for a slug that no project may have, Conflict for one that is taken."""
    _check_slug(slug)
    if Project.unscoped.filter(slug=slug).exists():
        raise Conflict(f"There is a project {slug!r} already.")


@transaction.atomic
def create_project(*, slug: str, name: str = "") -> Project:
    """Create a project with its vocabulary. Raises InvalidInput for a bad slug, Conflict if it is taken."""
    _check_slug(slug)
    name = clean_new_name(name or slug, "name")
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    if not is_new:
        raise Conflict(f"There is a project {slug!r} already.")
    seed_vocabulary(project)
    return project


def _check_slug(slug: str) -> None:
    if len(slug) > 100:
        raise InvalidInput(f"slug has {len(slug)} characters; the limit is 100.")
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise InvalidInput(f"slug: {slug!r} may hold letters, digits, '-' and '_' only.") from error
    if slug == OWN_PROJECT:
        raise InvalidInput(f"slug: {OWN_PROJECT!r} stands for the caller's own project in addresses.")


def seed_vocabulary(project: Project) -> None:
    layers = [(project.pk, name, name.casefold(), position) for position, name in enumerate(LAYERS)]
    sql.insert("core_layer", ("project_id", "name", "folded", "position"), layers)
    for table, names in (("core_tag", TAGS), ("core_category", CATEGORIES)):
        words = [(project.pk, name, name.casefold()) for name in names]
        sql.insert(table, ("project_id", "name", "folded"), words)
    for seed in seeders:
        seed(project)
