"""The REST view that chooses files of a session for a budget."""

from ctxhub.core.api.operations import performs
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet


class PrioritizeViewSet(ProjectViewSet):
    create = performs(
        takes("session", "prioritize", at="session"),
        says="Which files of the session fit into a budget, most important first, each as full as it fits.",
    )
