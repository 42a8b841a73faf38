"""What stood in the files of clients before, kept in the user's state folder: such files may hold secrets."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os

from ctxhub_client.connect.files import remove_empty
from ctxhub_client.store import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

FOLDERS = "folders.json"


class Original:
    """A file as it was before anything was added to it, and what was added since.

    `content` is None if there was no file; `written` is the digest of what connecting wrote last, and ""
    where another has written since: then the content is no longer what disconnecting has to leave.
    `parts` has for each part, by its key, the clients that need it, and what was noted of the text.
    """

    def __init__(self, file: str, content: bytes | None) -> None:
        self.file = file
        self.content = content
        self.made = content is None
        self.written = digest_of(content)
        self.parts: dict[str, Json] = {}

    def follow(self, content: bytes | None) -> None:
        """Take note of what another has written since."""
        if self.written != digest_of(content):
            self.written = ""
            self.content = None


def digest_of(content: bytes | None) -> str:
    return "absent" if content is None else hashlib.sha256(content).hexdigest()


def folder() -> str:
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_STATE_HOME")
    home = os.path.expanduser("~")
    return os.path.join(base or os.path.join(home, ".local", "state"), "ctxhub", "connect")


def place_of(file: str) -> str:
    return os.path.join(folder(), digest(file) + ".json")


def load(file: str) -> Original | None:
    """What is kept of a file; None if there is nothing, or nothing that can be read."""
    try:
        with open(place_of(file), "rb") as kept:
            found = json.loads(kept.read().decode("utf-8"))
        original = Original(file, None)
        encoded = found["content"]
        original.content = None if encoded is None else base64.b64decode(encoded, validate=True)
        original.made, original.written = bool(found["made"]), str(found["written"])
        original.parts = {
            str(key): {"clients": list(part["clients"]), "noted": dict(part["noted"])}
            for key, part in found["parts"].items()
        }
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, binascii.Error):
        return None
    return original if original.parts else None


def save(original: Original) -> None:
    """Keep it, for the user alone; what has no parts any more is forgotten."""
    place = place_of(original.file)
    if not original.parts:
        if os.path.exists(place):
            os.unlink(place)
            remove_empty([folder(), os.path.dirname(folder())])
        return
    content = original.content
    kept = {
        "file": original.file,
        "content": None if content is None else base64.b64encode(content).decode("ascii"),
        "made": original.made,
        "written": original.written,
        "parts": original.parts,
    }
    write_privately(place, kept)


def write_privately(place: str, kept: object) -> None:
    os.makedirs(folder(), 0o700, exist_ok=True)
    temporary = "{}.{}".format(place, os.getpid())
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(kept, file)
    os.replace(temporary, place)


def folders_made() -> list[str]:
    """The folders that were made for files, and may be taken away with them."""
    try:
        with open(os.path.join(folder(), FOLDERS), encoding="utf-8") as file:
            return [str(each) for each in json.load(file)]
    except (OSError, ValueError, TypeError):
        return []


def keep_folders(folders: list[str]) -> None:
    place = os.path.join(folder(), FOLDERS)
    if folders:
        write_privately(place, folders)
    elif os.path.exists(place):
        os.unlink(place)


def remove_folders(file: str) -> None:
    """Take away those above a file that is gone, where they hold nothing else."""
    made = folders_made()
    above = [each for each in made if file.startswith(each + os.sep)]
    remove_empty(sorted(above, key=len, reverse=True))
    keep_folders([each for each in made if os.path.isdir(each)])
