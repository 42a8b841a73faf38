"""The ASGI application: one process with REST and admin by Django and `/mcp` by the MCP server."""

import gc
import os
import sys

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
django.setup(set_prefix=False)  # What follows imports models.
str(settings.SECRET_KEY)  # Fails here, not at the first request, if there is no key and none can be created.

from ctxhub import env  # noqa: E402
from ctxhub.mcp.django_handler import DjangoHandler  # noqa: E402
from ctxhub.mcp.http import Dispatcher  # noqa: E402
from ctxhub.mcp.parent_process import end_with_parent  # noqa: E402

# A call that computes for seconds lets the others go on ten times a millisecond: each step of a statement
# gives the interpreter up and asks for it again. At the default of 5 ms a read waited for 2 s at p95 beside
# the analysis of a mebibyte, at 0.5 ms for 0.2 s, at 0.1 ms for 0.05 s; calls a second are the same.
sys.setswitchinterval(0.0001)
end_with_parent()
application = Dispatcher(
    DjangoHandler().answer, mode=env.choice("CTXHUB_MODE", ("both", "api", "mcp"), "both")
)
# What exists now stays: no collection looks through it again, which held all calls up for 0.1 s.
gc.collect()
gc.freeze()
