"""Reads the values of many decisions at versions."""

from collections.abc import Sequence

from django.db.models.functions import Left

from memory.decisions.models.decision import Decision, DecisionRevision

Version = tuple[int, str]


def values_at(project_id: int, versions: Sequence[Version], characters: int) -> dict[Version, str]:
    """The first `characters` of values, by id and version; the newest if several have this name."""
    ids = {decision_id for decision_id, _ in versions}
    past = DecisionRevision.objects.in_project(project_id).filter(
        decision_id__in=ids, version__in={version for _, version in versions}
    )
    now = Decision.objects.in_project(project_id).filter(pk__in=ids)
    beginning = Left("value", characters)
    found = [
        *past.order_by("pk").values_list("decision_id", "version", beginning),
        *now.values_list("pk", "version", beginning),
    ]
    texts = {(decision_id, version): text for decision_id, version, text in found}
    return {key: texts[key] for key in versions if key in texts}
