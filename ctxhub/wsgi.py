"""The WSGI application: only REST and admin; `/mcp` needs asgi.py."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")

application = get_wsgi_application()
str(settings.SECRET_KEY)  # Fails here, not at the first request, if there is no key and none can be created.
