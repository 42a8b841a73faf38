"""Which secret key a restore has to put in place."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from ctxhub import env
from ctxhub.core.kit.restored import key_mark
from ctxhub.management.backups.archive import Archive
from ctxhub.management.backups.manifest import KEY, BadBackup

VARIABLE = "CTXHUB_SECRET_KEY"


def key_to_put(archive: Archive) -> str:
    """The key of the backup, "" if this hub has it already.

    Raises CommandError if it is another one than the environment has, which a command cannot change.
    """
    key = _key_in(archive)
    if not (own := env.text(VARIABLE)):
        return "" if _kept() == key else key
    if key in (own, *settings.SECRET_KEY_FALLBACKS):
        return ""
    raise CommandError(
        f"The backup has another secret key than {VARIABLE}: all tokens would be invalid. Set {VARIABLE} to "
        f"it, or add it to {VARIABLE}_FALLBACKS: tar --extract --to-stdout --file={archive.path} {KEY}"
    )


def holds_key(archive: Archive, key: str) -> bool:
    """Whether this is the secret key in the backup."""
    try:
        return _key_in(archive) == key
    except BadBackup:
        return False


def _key_in(archive: Archive) -> str:
    try:
        key = archive.read(KEY, at_most=env.LONGEST_KEY).decode()
    except UnicodeDecodeError as error:
        raise BadBackup("its secret key is no text") from error
    if key_mark(key) != archive.manifest.key:
        raise BadBackup("its secret key is not that of its manifest")
    return key


def _kept() -> str:
    file = Path(settings.KEY_FILE)
    return file.read_text(errors="replace").strip() if file.is_file() else ""
