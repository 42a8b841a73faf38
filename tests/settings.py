"""The settings of the hub for tests: a separate database file, a public key and fast password hashes."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "CTXHUB_VAR_DIR" not in os.environ:
    os.environ["CTXHUB_VAR_DIR"] = tempfile.mkdtemp(prefix="ctxhub-tests-")
    atexit.register(shutil.rmtree, os.environ["CTXHUB_VAR_DIR"], ignore_errors=True)
_var = Path(os.environ["CTXHUB_VAR_DIR"])
os.environ.setdefault("CTXHUB_SECRET_KEY", "for-tests-only-0123456789-abcdefghijklmnopqrstuvwxyz")
os.environ["CTXHUB_WEB"] = "true"

from ctxhub.settings import *  # noqa: E402, F403
from ctxhub.settings import DATABASES  # noqa: E402

ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file: threads of the live hub cannot share a database in memory.
    DATABASES["default"]["TEST"] = {"NAME": str(_var / "test.sqlite3")}
