"""Reads the texts of many memories at revisions."""

from collections.abc import Sequence

from django.db.models.functions import Left

from ctxhub.core.kit.inputs import read_id
from memory.memories.models.memory import Memory, MemoryRevision

Version = tuple[int, str]


def texts_at(project_id: int, versions: Sequence[Version], characters: int) -> dict[Version, str]:
    """Title and the first `characters` of the content, by id and number of the revision."""
    ids = {memory_id for memory_id, _ in versions}
    past = MemoryRevision.objects.in_project(project_id).filter(
        memory_id__in=ids,
        number__in={number for _, version in versions if (number := read_id(version))},
        content__isnull=False,
    )
    now = Memory.objects.in_project(project_id).filter(pk__in=ids)
    beginning = Left("content", characters)
    found = [
        *past.values_list("memory_id", "number", "title", beginning),
        *now.values_list("pk", "revision", "title", beginning),
    ]
    texts = {(memory_id, str(number)): f"{title}\n\n{text}" for memory_id, number, title, text in found}
    return {key: texts[key] for key in versions if key in texts}
