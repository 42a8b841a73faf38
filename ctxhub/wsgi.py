"""REST and admin alone, for servers that speak WSGI; `/mcp` needs asgi.py."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")

application = get_wsgi_application()
