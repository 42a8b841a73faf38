"""The REST API, its schema and its page."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from ctxhub.core.api import schema  # noqa: F401  # What it registers, the schema is made with.
from ctxhub.core.api import urls as core
from ctxhub.core.api.views import unknown_address
from memory.api import urls as memory

app_name = "api"

in_project = [*core.in_project, *memory.in_project]

urlpatterns = [
    path("v1/", include(core.beside_projects)),
    path("v1/projects/<slug:slug>/", include(in_project)),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api:schema"), name="docs"),
    re_path("", unknown_address),
]
