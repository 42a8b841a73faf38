"""REST routes of the sessions app."""

from django.urls import path

from ctxhub.rest.routes import routes
from sessions.accesses.api import AccessViewSet, DependencyViewSet, SessionResourceViewSet
from sessions.briefs.api import BriefViewSet, CheckViewSet
from sessions.nudges.api import NudgeViewSet
from sessions.prioritize.api import PrioritizeViewSet
from sessions.sittings.api import LineageViewSet, RestoreViewSet, SessionViewSet
from sessions.windows.api import BeginViewSet

in_project = [
    path("brief/", BriefViewSet.as_view({"get": "retrieve"})),
    path("check/", CheckViewSet.as_view({"get": "retrieve", "post": "ask"})),
    path("nudge/", NudgeViewSet.as_view({"get": "retrieve"})),
    path("sessions/begin/", BeginViewSet.as_view({"post": "create"})),
    path("sessions/restore/", RestoreViewSet.as_view({"post": "create"})),
    *routes("sessions/", "id:session_id", SessionViewSet),
    path("sessions/<id:session_id>/restore/", RestoreViewSet.as_view({"post": "of_session"})),
    path("sessions/<id:session_id>/lineage/", LineageViewSet.as_view({"get": "list"})),
    path("sessions/<id:session_id>/prioritize/", PrioritizeViewSet.as_view({"post": "create"})),
    path("accesses/", AccessViewSet.as_view({"get": "list", "post": "create"})),
    path("dependencies/", DependencyViewSet.as_view({"get": "list", "post": "create"})),
    path("sessions/<id:session_id>/accesses/", AccessViewSet.as_view({"get": "of_session"})),
    path("sessions/<id:session_id>/resources/", SessionResourceViewSet.as_view({"get": "list"})),
]
