"""REST views of files in sessions: accesses, the files of a session, dependencies."""

from ctxhub.rest.operations import CREATED, CREATED_OR_FOUND, lists, performs
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from sessions.accesses.dependencies import ORDERS, ListedDependency, list_dependencies
from sessions.accesses.files import SORTED_BY, SessionResource, list_session_resources
from sessions.accesses.queries import ListedAccess, list_accesses


class AccessViewSet(ProjectViewSet):
    list = lists(
        takes("session", "accesses"),
        ListedAccess,
        of_caller=list_accesses,
        orders=(["at"], "-at"),
        says="Accesses of agents to files that pass every filter, newest first.",
    )
    create = performs(takes("session", "track"), statuses=CREATED, says="Note what an agent did with a file.")
    of_session = lists(
        takes("session", "accesses", at="session"),
        ListedAccess,
        of_caller=list_accesses,
        orders=(["at"], "-at"),
        says="Accesses in one session, newest first.",
    )


class SessionResourceViewSet(ProjectViewSet):
    list = lists(
        takes("session", "resources", at="session"),
        SessionResource,
        of_caller=list_session_resources,
        orders=(SORTED_BY, "-relevance"),
        says="The files of a session, the most relevant ones first unless `sort` says otherwise.",
    )


class DependencyViewSet(ProjectViewSet):
    list = lists(
        takes("session", "dependencies"),
        ListedDependency,
        by=list_dependencies,
        orders=(ORDERS, "depth"),
        says="What a file needs, and what needs it: the nearest first.",
    )
    create = performs(
        takes("session", "depend"),
        statuses=CREATED_OR_FOUND,
        says="Note that a file depends on another: 201 where that is new, 200 where it gets stronger.",
    )
