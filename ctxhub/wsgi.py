"""The WSGI application: only REST and admin; `/mcp` needs asgi.py."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from ctxhub.env import BadVariable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")

try:
    _django = get_wsgi_application()
except BadVariable as error:
    sys.exit(f"ctxhub: {error}")
str(settings.SECRET_KEY)  # Fails here, not at the first request, if there is no key and none can be created.

from ctxhub.core.kit.newer_schema import look_if_due  # noqa: E402


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's, which also looks whether the database has become newer: nothing runs beside the requests."""
    if environ["REQUEST_METHOD"] != "GET":
        look_if_due()
    return _django(environ, start_response)
