"""The ASGI application: one process with REST and admin by Django and `/mcp` by the MCP server."""

import os
import sys

import django
from django.conf import settings

from ctxhub import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
try:
    django.setup(set_prefix=False)  # What follows imports models.
except env.BadVariable as error:
    sys.exit(f"ctxhub: {error}")
str(settings.SECRET_KEY)  # Fails here, not at the first request, if there is no key and none can be created.

from ctxhub.mcp.django_handler import DjangoHandler  # noqa: E402
from ctxhub.mcp.fair_threads import settle  # noqa: E402
from ctxhub.mcp.http import Dispatcher  # noqa: E402
from ctxhub.mcp.parent_process import end_with_parent  # noqa: E402
from ctxhub.metrics.counting import begin_counting  # noqa: E402
from ctxhub.tracing import begin_tracing  # noqa: E402

end_with_parent()
begin_counting()
begin_tracing()
application = Dispatcher(
    DjangoHandler().answer, mode=env.choice("CTXHUB_MODE", ("both", "api", "mcp"), "both")
)
settle()
