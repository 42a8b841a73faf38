"""The UUIDs by which the lines of an export name objects."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID, uuid5

from ctxhub.core.models import Project
from ctxhub.core.transfer.models import Origin

Object = tuple[str, int]
"""The kind of an object and its id."""


def native_uuid(project_uuid: UUID, kind: str, object_id: int) -> UUID:
    """The UUID of an object that was made in its project: version 5 (RFC 9562) of project, kind and id."""
    return uuid5(project_uuid, f"{kind}:{object_id}")


class Uuids:
    """The UUIDs of a project's objects: those they were imported with, else the computed ones."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._has_origins = Origin.objects.in_project(project).exists()

    def of(self, objects: Iterable[Object]) -> dict[Object, UUID]:
        """The UUIDs of objects, whether they exist or not, with a query for each kind."""
        wanted = {*objects}
        found: dict[Object, UUID] = {}
        if self._has_origins:
            by_kind: dict[str, list[int]] = defaultdict(list)
            for kind, object_id in wanted:
                by_kind[kind].append(object_id)
            for kind, ids in by_kind.items():
                rows = Origin.objects.in_project(self._project).filter(kind=kind, object_id__in=ids)
                found |= {(kind, row_id): uuid for row_id, uuid in rows.values_list("object_id", "uuid")}
        ns = self._project.uuid
        return {each: found.get(each) or native_uuid(ns, *each) for each in wanted}
