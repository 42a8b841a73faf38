"""One process for everything: REST and admin are Django's, `/mcp` is the MCP server's."""

import os
import warnings

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
_django = get_asgi_application()  # Sets Django up; what follows imports models.
str(settings.SECRET_KEY)  # Where there is none and none can be made, here and not at the first request.

from ctxhub import env  # noqa: E402
from ctxhub.mcp.http import Dispatcher  # noqa: E402

# WhiteNoise hands out files as Django's sync responses do, which ASGI reads whole: they are small.
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")

application = Dispatcher(_django, mode=env.choice("CTXHUB_MODE", ("both", "api", "mcp"), "both"))
