"""REST and admin alone, for servers that speak WSGI; `/mcp` needs asgi.py."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")

application = get_wsgi_application()
str(settings.SECRET_KEY)  # Where there is none and none can be made, here and not at the first request.
