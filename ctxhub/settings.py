"""The Django settings. Those that a hub may change are read through env.py and listed in `.env.example`."""

import os
import socket
import sys
from typing import Any
from urllib.parse import quote

from django.utils.functional import SimpleLazyObject

from ctxhub import env
from ctxhub.core.kit.hub_connection import HubConnection
from ctxhub.core.kit.replacement import finish
from ctxhub.core.kit.restored_key import settle_key

BASE_DIR = env.ROOT
VAR_DIR = env.folder("CTXHUB_VAR_DIR", BASE_DIR / "var")
WEB = env.flag("CTXHUB_WEB", default=True)

# -- Who may talk to this hub ----------------------------------------------------------------------

# In a client's environment it names the file of the hooks' log, and the stdio server inherits it.
DEBUG = not env.names_file("CTXHUB_DEBUG") and env.flag("CTXHUB_DEBUG", default=False)
KEY_FILE = VAR_DIR / "secret_key"


def _read_key() -> str:
    """After a restore that was interrupted, the key that belongs to the database."""
    if not env.text("CTXHUB_SECRET_KEY") and not _database["ENGINE"].endswith("sqlite3"):
        settle_key(KEY_FILE)
    return env.secret_key("CTXHUB_SECRET_KEY", KEY_FILE, "CTXHUB_VAR_DIR")


# Without a configured key, the hub creates one on first use, so that a failing command leaves no file.
SECRET_KEY: Any = _read_key() if env.text("CTXHUB_SECRET_KEY") else SimpleLazyObject(_read_key)
SECRET_KEY_FALLBACKS = env.names("CTXHUB_SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.names("CTXHUB_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
BASE_URL = env.origin("CTXHUB_BASE_URL", "http://127.0.0.1:8000")
CORS_ORIGINS = env.names("CTXHUB_CORS_ORIGINS")
RATE_LIMIT = env.number("CTXHUB_RATE_LIMIT", 0)
MAX_CONNECTIONS = env.number("CTXHUB_MAX_CONNECTIONS", 1_000, at_least=10)
METRICS_TOKEN = env.token("CTXHUB_METRICS_TOKEN")

HTTPS = BASE_URL.startswith("https://")
CSRF_TRUSTED_ORIGINS = [BASE_URL] if HTTPS else []
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = env.number("CTXHUB_HSTS_SECONDS", 0, at_most=63_072_000)
BEHIND_PROXY = env.flag("CTXHUB_BEHIND_PROXY", default=False)
# For the WSGI application: in ASGI, ctxhub/mcp/addresses.py removes the header.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
X_FRAME_OPTIONS = "DENY"

# -- The database: SQLite in var/, or what DATABASE_URL names --------------------------------------

DATABASE_URL = env.text("DATABASE_URL", f"sqlite:///{quote(str(VAR_DIR / 'ctxhub.sqlite3'))}")
_database = env.database("DATABASE_URL", VAR_DIR / "ctxhub.sqlite3", "CTXHUB_VAR_DIR", when_missing=finish)
DATABASES: dict[str, dict[str, Any]] = {"default": _database}
_database["ATOMIC_REQUESTS"] = False  # A read inside atomic() would be a writer: see docs/decisions/0003.

if _database["ENGINE"].endswith("sqlite3"):
    _database["CONN_MAX_AGE"] = None
    _database["OPTIONS"] = {
        "factory": HubConnection,
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000;"
            # 16 MiB: writes change much the same pages, and each checkpoint copies them; at the default
            # of 1,000 a set takes a sixth longer.
            "PRAGMA wal_autocheckpoint=4000;"
            "PRAGMA mmap_size=268435456; PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;"
            "PRAGMA journal_size_limit=67108864;"
        ),
    }
else:
    # Each thread keeps its connection: the thread pools of ctxhub.mcp limit their number.
    _database["CONN_MAX_AGE"] = 600
    _database["CONN_HEALTH_CHECKS"] = True
    _options = _database.setdefault("OPTIONS", {})
    _options.setdefault("connect_timeout", 5)
    # The list of connections, and setup, tell by it who is connected.
    _options.setdefault("application_name", f"ctxhub, process {os.getpid()} of {socket.gethostname()}"[:63])
    _options.setdefault("prepare_threshold", 2)  # Statements are prepared when they run for the third time.

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Apps: BASE_APPS always, WEB_APPS only with CTXHUB_WEB -----------------------------------------

BASE_APPS = [
    "ctxhub",  # Its createsuperuser comes before that of Django.
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "ctxhub.core",
    "memory",
    "messaging",
    "tracking",
    "sessions",
]
WEB_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
INSTALLED_APPS = [*WEB_APPS, *BASE_APPS] if WEB else BASE_APPS

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "ctxhub.static_files.StaticFiles",
    "ctxhub.static_files.CompressPages",
    "ctxhub.middleware.ContentSecurityPolicy",
    "ctxhub.middleware.DatabaseFailures",
    "ctxhub.rest.cors.CrossOrigin",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "ctxhub.console.marks.MarkInvisible",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ctxhub.console.known_browsers.KnownBrowsers",
    "ctxhub.middleware.AdminTimeZone",
    "ctxhub.console.visits.NotedVisits",
    "ctxhub.console.remembered.RememberedProject",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "ctxhub.urls"
ASGI_APPLICATION = "ctxhub.asgi.application"
WSGI_APPLICATION = "ctxhub.wsgi.application"

TEMPLATE_LOADERS = ["ctxhub.console.icons.ProjectLoader", "ctxhub.console.icons.AppLoader"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "ctxhub" / "templates"],
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", TEMPLATE_LOADERS)],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
# Widgets are drawn with the same loaders, which is why django.forms is an app.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# -- Language, time, static files ------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_USE_FINDERS = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "ctxhub.static_files.HashedStorage"},
}

# -- The admin's theme -----------------------------------------------------------------------------

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "ctxhub",
    "SITE_HEADER": "ctxhub",
    "SITE_SUBHEADER": "ctxhub.console.navigation.subtitle",
    "SITE_SYMBOL": "hub",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "ctxhub.console.navigation.favicon"}],
    "SITE_URL": None,
    "SITE_DROPDOWN": "ctxhub.console.navigation.switcher",
    "ACCOUNT": {"navigation": "ctxhub.console.navigation.account"},
    "SIDEBAR": {"navigation": "ctxhub.console.navigation.sidebar"},
    "DASHBOARD_CALLBACK": "ctxhub.console.dashboard.add_context",
    "STYLES": ["ctxhub.console.navigation.stylesheet"],
    "SCRIPTS": [
        "ctxhub.console.navigation.search_script",
        "ctxhub.console.navigation.palette_script",
    ],
    "COLORS": {
        "font": {"subtle-light": "var(--color-base-600)"},  # Readable on the grey of what is pointed at.
        "primary": {
            "50": "oklch(98.4% .014 180.72)",
            "100": "oklch(95.3% .051 180.801)",
            "200": "oklch(91% .096 180.426)",
            "300": "oklch(85.5% .138 181.071)",
            "400": "oklch(77.7% .152 181.912)",
            "500": "oklch(66% .13 183)",
            "600": "oklch(51.1% .096 186.391)",  # White text on it is readable.
            "700": "oklch(46% .084 187.5)",
            "800": "oklch(40% .068 188.3)",
            "900": "oklch(34% .056 189.5)",
            "950": "oklch(27.7% .046 192.524)",
        },
    },
}
# The lines that connect each client, shown with a new token. Core does not import ctxhub.management.
READY_LINES = "ctxhub.management.ready_lines.token_lines"
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60  # Of a link that an administrator makes, in seconds.
LOGIN_URL, LOGIN_REDIRECT_URL = "/admin/login/", "/admin/"

# -- Limits ----------------------------------------------------------------------------------------

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
GREP_ROOTS = env.roots("CTXHUB_GREP_ROOTS")
EXACT_TOKENS = env.flag("CTXHUB_EXACT_TOKENS", default=False)
WEBHOOK_PRIVATE = env.flag("CTXHUB_WEBHOOK_PRIVATE", default=False)
SEMANTIC_SEARCH = env.flag("CTXHUB_SEMANTIC_SEARCH", default=False)

# -- REST and its schema ---------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ctxhub.rest.authentication.BearerToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "rest_framework.renderers.BrowsableAPIRenderer",
    ],
    "DEFAULT_PARSER_CLASSES": ["ctxhub.rest.parsers.JsonBody"],
    "DEFAULT_SCHEMA_CLASS": "ctxhub.rest.schema.HubSchema",
    "EXCEPTION_HANDLER": "ctxhub.rest.errors.answer_error",
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%SZ",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNICODE_JSON": True,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "ctxhub",
    "DESCRIPTION": "Shared context for AI coding agents and the people who run them.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SCHEMA_PATH_PREFIX": r"/api/v1(/projects/\{slug\}(?=/.))?",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,  # PATCH bodies keep their required fields.
    "PATH_CONVERTER_OVERRIDES": {"id": {"type": "string", "format": "id-or-ref"}},  # Completed by the hook.
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "ctxhub.rest.schema.add_what_is_common",
    ],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Enum fields with the same name but different choices get their own names in the schema.
    "ENUM_NAME_OVERRIDES": {
        "DecisionStatus": ["active", "draft", "deprecated"],
        "SetResult": ["created", "updated", "unchanged"],
        "ConstraintStatus": ["active", "inactive"],
        "AddResult": ["created", "exists"],
        "StatusResult": ["updated", "unchanged"],
        "RequestState": ["open", "claimed", "done"],
        "LeaseState": ["live", "expired", "released"],
        "LeaseResult": ["created", "extended"],
        "FileChange": ["created", "modified", "deleted"],
        "SaveResult": ["created", "updated"],
        "ResourceType": ["code", "documentation", "data", "research", "generated"],
        "PadChange": [
            *(
                "created",
                "appended",
                "replaced",
                "inserted",
                "lines_replaced",
                "section_extended",
                "restored",
            ),
        ],
        "PadMode": ["replace", "insert", "replace_lines", "section", "append_section"],
        "MessageType": ["decision", "warning", "request", "info"],
        "MemoryType": ["note", "conversation", "snippet", "reference", "task", "idea"],
        "Relation": ["related", "includes", "references", "depends_on", "blocks"],
    },
}

# -- Logging to stderr: with the stdio transport, stdout carries only the protocol -----------------

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOG_FORMATS = {"text": "LineFormatter", "json": "JsonFormatter"}
LOG_FORMAT = env.choice("CTXHUB_LOG_FORMAT", tuple(LOG_FORMATS), "text")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": f"ctxhub.core.kit.log_lines.{LOG_FORMATS[LOG_FORMAT]}",
            "format": "{asctime} {levelname} {name}{of_request}: {message}",
            "style": "{",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "stream": sys.stderr, "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.choice("CTXHUB_LOG_LEVEL", LEVELS, "WARNING")},
}
