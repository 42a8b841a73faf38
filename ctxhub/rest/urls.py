"""The URLs of core's endpoints."""

from typing import Any

from django.urls import path

from ctxhub.core.bin.api import BinViewSet
from ctxhub.core.webhooks.api import DeliveryViewSet, WebhookViewSet
from ctxhub.rest.access_tokens import OwnTokenViewSet, TokenViewSet
from ctxhub.rest.calls import CallViewSet
from ctxhub.rest.events import EventsViewSet
from ctxhub.rest.hub import (
    ActivityViewSet,
    AgentViewSet,
    ConfigViewSet,
    ConfirmViewSet,
    LayerSummaryViewSet,
    NamedViewViewSet,
    StatsViewSet,
    UpdatesViewSet,
)
from ctxhub.rest.links import LinkViewSet
from ctxhub.rest.me import MeViewSet
from ctxhub.rest.people import PeopleViewSet
from ctxhub.rest.projects import ProjectSeenViewSet, ProjectsViewSet
from ctxhub.rest.refusals import RefusalViewSet
from ctxhub.rest.search import SearchViewSet
from ctxhub.rest.transfer import ExportViewSet, ImportViewSet
from ctxhub.rest.use import UseViewSet
from ctxhub.rest.vocabulary import CategoryViewSet, LayerViewSet, ScopeViewSet, TagViewSet

LIST: dict[str, Any] = {"get": "list"}
ONE: dict[str, Any] = {"get": "retrieve"}
LIST_AND_CREATE: dict[str, Any] = {"get": "list", "post": "create"}

beside_projects = [
    path("me/", MeViewSet.as_view({**ONE, "patch": "partial_update"})),
    path("me/tokens/", OwnTokenViewSet.as_view(LIST_AND_CREATE)),
    path("me/tokens/<int:token_id>/", OwnTokenViewSet.as_view({"delete": "destroy"})),
    path("people/", PeopleViewSet.as_view(LIST)),
    path("people/<str:username>/", PeopleViewSet.as_view(ONE)),
    path("people/<str:username>/deactivate/", PeopleViewSet.as_view({"post": "deactivate"})),
    path("people/<str:username>/password_link/", PeopleViewSet.as_view({"post": "password_link"})),
    path("projects/", ProjectsViewSet.as_view(LIST_AND_CREATE)),
    path("tokens/", TokenViewSet.as_view(LIST_AND_CREATE)),
    path("tokens/<int:token_id>/", TokenViewSet.as_view({"delete": "destroy"})),
    path("tokens/<int:token_id>/rotate/", TokenViewSet.as_view({"post": "rotate"})),
]

in_project = [
    path("", ProjectSeenViewSet.as_view(ONE)),
    path("search/", SearchViewSet.as_view({"get": "retrieve", "post": "ask"})),
    path("links/why/", LinkViewSet.as_view({"get": "why"})),
    path("links/chain/", LinkViewSet.as_view({"get": "chain"})),
    path("links/impact/", LinkViewSet.as_view({"get": "impact"})),
    path("stats/", StatsViewSet.as_view(ONE)),
    path("agents/", AgentViewSet.as_view(LIST)),
    path("activity/", ActivityViewSet.as_view(LIST)),
    path("refusals/", RefusalViewSet.as_view(LIST)),
    path("use/", UseViewSet.as_view(LIST)),
    path("use/empty_searches/", UseViewSet.as_view({"get": "empty_searches"})),
    path("bin/", BinViewSet.as_view(LIST)),
    path("bin/restore/", BinViewSet.as_view({"post": "restore"})),
    path("bin/<int:entry>/", BinViewSet.as_view({"delete": "destroy"})),
    path("updates/", UpdatesViewSet.as_view(ONE)),
    path("events/", EventsViewSet.as_view(ONE)),
    path("export/", ExportViewSet.as_view(ONE)),
    path("import/", ImportViewSet.as_view({"post": "create"})),
    path("confirm/", ConfirmViewSet.as_view({"post": "create"})),
    path("tags/", TagViewSet.as_view(LIST)),
    path("scopes/", ScopeViewSet.as_view(LIST)),
    path("categories/", CategoryViewSet.as_view(LIST)),
    path("layers/", LayerViewSet.as_view(LIST_AND_CREATE)),
    path("layers/summary/", LayerSummaryViewSet.as_view(LIST)),
    path("views/<str:name>/", NamedViewViewSet.as_view(LIST)),
    path("config/", ConfigViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path("webhooks/", WebhookViewSet.as_view(LIST_AND_CREATE)),
    path(
        "webhooks/<id:webhook_id>/",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("webhooks/<id:webhook_id>/test/", WebhookViewSet.as_view({"post": "test"})),
    path(
        "webhooks/<id:webhook_id>/deliveries/",
        DeliveryViewSet.as_view({"get": "list", "post": "again"}),
    ),
    path("call/<str:tool>/", CallViewSet.as_view({"post": "run"})),
    path("call/<str:tool>/<str:action>/", CallViewSet.as_view({"post": "run_action"})),
]
