"""Deletes a project: its rows in batches, the project last. A deletion that was cut off can be repeated."""

from collections.abc import Mapping, Sequence
from functools import cache, partial

from django.db.models import CASCADE, RESTRICT, SET_NULL, ForeignKey, Model

from ctxhub.core.kit import sql
from ctxhub.core.kit.batches import ROWS_AT_ONCE, do_first, in_batches
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import AccessToken, Membership, Project, SearchEntry, SearchText
from ctxhub.core.search.index import delete_passages

# Nobody writes to a project without them.
FIRST = (AccessToken, Membership)
# Deleted with their entries: they have no index by project.
WITH_ENTRIES = SearchText


def delete_project(project: Project) -> None:
    """Delete a project with all that it holds."""
    in_batches(partial(_delete, project))


def _delete(project: Project) -> None:
    with write_transaction(project.pk):
        do_first(f"project:{project.pk}", partial(_delete_batch, project.pk))
        project.delete()


def _delete_batch(project_id: int) -> Mapping[str, int]:
    with write_transaction(project_id):
        for model in _models():
            rows = model._base_manager.filter(project=project_id)
            if ids := list(rows.values_list("pk", flat=True)[:ROWS_AT_ONCE]):
                _delete_rows(model, ids)
                return {model._meta.label_lower: len(ids)}
    return {}


def _delete_rows(model: type[Model], ids: Sequence[int]) -> None:
    if model in FIRST:
        model._base_manager.filter(pk__in=ids).delete()  # With its signals.
        return
    if model is SearchEntry:
        delete_passages(*sql.among("id", ids), first=0)
    delete_rows(model, ids)


@cache
def _models() -> Sequence[type[Model]]:
    """The models with rows of projects: those that refer to others before these."""
    relations = Project._meta.get_fields(include_hidden=True)
    related = [field.related_model for field in relations if field.auto_created and field.one_to_many]
    left = {model for model in related if isinstance(model, type) and model is not WITH_ENTRIES} - {*FIRST}
    ordered: list[type[Model]] = []
    while left:
        referred_to = {target for model in left for target in _targets(model) if target is not model}
        free = sorted(left - referred_to, key=lambda model: model._meta.label)
        ordered += free or sorted(left, key=lambda model: model._meta.label)[:1]
        left -= {*ordered}
    return [*FIRST, *ordered]


def _targets(model: type[Model]) -> set[type[Model]]:
    keys = [field for field in model._meta.get_fields() if isinstance(field, ForeignKey)]
    return {key.related_model for key in keys if key.remote_field.on_delete in (CASCADE, RESTRICT, SET_NULL)}
