"""Creates projects, with the layers, tags and categories that every team needs."""

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.core.kit.inputs import OWN_PROJECT, clean_name
from ctxhub.core.models import Category, Layer, Project, Tag

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


@transaction.atomic
def create_project(*, slug: str, name: str = "") -> Project:
    """Create a project with its vocabulary. Raises InvalidInput for a bad slug, Conflict if it is taken."""
    if len(slug) > 100:
        raise InvalidInput(f"slug has {len(slug)} characters; the limit is 100.")
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise InvalidInput(f"slug: {slug!r} may hold letters, digits, '-' and '_' only.") from error
    if slug == OWN_PROJECT:
        raise InvalidInput(f"slug: {OWN_PROJECT!r} stands for the caller's own project in addresses.")
    name = clean_name(name or slug, "name")
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    if not is_new:
        raise Conflict(f"There is a project {slug!r} already.")
    seed_vocabulary(project)
    return project


def seed_vocabulary(project: Project) -> None:
    Layer.unscoped.bulk_create(
        Layer(project=project, name=layer, folded=layer.casefold(), position=position)
        for position, layer in enumerate(LAYERS)
    )
    Tag.unscoped.bulk_create(Tag(project=project, name=tag, folded=tag.casefold()) for tag in TAGS)
    Category.unscoped.bulk_create(
        Category(project=project, name=name, folded=name.casefold()) for name in CATEGORIES
    )
    for seed in seeders:
        seed(project)
