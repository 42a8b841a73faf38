"""The REST view that chooses files of a session for a budget."""

from ctxhub.rest.operations import performs
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet


class PrioritizeViewSet(ProjectViewSet):
    create = performs(
        takes("session", "prioritize", at="session"),
        says="Which files of the session fit into a budget, most important first, each as full as it fits.",
    )
