"""URLs of the admin, invitations, the client, the REST API, health checks, metrics. asgi.py serves `/mcp`."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.decorators.http import require_GET
from django.views.generic import RedirectView

from ctxhub.connect import approval, devices
from ctxhub.connect import views as connect
from ctxhub.console import connecting, joining, named_views, new_passwords, own_settings, palette, search_page
from ctxhub.console.needs import live
from ctxhub.health import healthz, readyz
from ctxhub.metrics.page import metrics
from ctxhub.rest.views import unknown_address

urlpatterns = [
    path("", RedirectView.as_view(url="/admin/")),
    path(f"{named_views.FOLDER[1:]}<str:name>/", admin.site.admin_view(named_views.show), name="admin_view"),
    path(search_page.FOLDER[1:], admin.site.admin_view(search_page.show), name="admin_search"),
    path(palette.FOLDER[1:], admin.site.admin_view(palette.show), name="admin_palette"),
    path(own_settings.FOLDER[1:], admin.site.admin_view(own_settings.show), name="admin_settings"),
    path(live.FOLDER[1:], admin.site.admin_view(live.show), name="admin_overview"),
    path(live.STREAM[1:], require_GET(admin.site.admin_view(live.stream)), name="admin_overview_events"),
    path(connecting.FOLDER[1:], admin.site.admin_view(connecting.show), name="admin_connected"),
    path("admin/", admin.site.urls),
    path("invitation/", joining.show, name="invitation"),
    path("invitation/<str:secret>/", joining.follow_link, name="invitation_link"),
    path("password/", new_passwords.show, name="password"),
    path("password/<str:secret>/", new_passwords.follow_link, name="password_link"),
    path("connect/", connect.page, name="connect"),
    path("connect/code/", approval.show, name="enrolment"),
    path("connect/device/", devices.device, name="enrolment_device"),
    path("connect/token/", devices.token, name="enrolment_token"),
    path("connect/renew/", devices.renewal, name="enrolment_renewal"),
    path("connect/revoke/", devices.revocation, name="enrolment_revocation"),
    path("connect/ctxhub.pyz", connect.program, name="client_archive"),
    path("connect/ctxhub.pyz.sha256", connect.checksum, name="client_checksum"),
    path("api/", include("ctxhub.api_urls")),
    re_path(r"^[aA][pP][iI](?:/|$)", unknown_address),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
]
