"""Whether case counts in the paths of a project: `SRC/A.py` is `src/a.py` on macOS and Windows."""

from collections.abc import Callable

from ctxhub.core.accounts.config import config_of, read_config
from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.text.path_case import fold_path

Compared = Callable[[str], str]
"""The form in which a path or glob is compared."""


def as_written(path: str) -> str:
    return path


def ignores_case(caller: Caller) -> bool:
    return read_config(caller.project.config).ignore_case_in_paths


def compared_by(caller: Caller) -> Compared:
    """How the paths of the caller's project are compared."""
    return fold_path if ignores_case(caller) else as_written


def compared_in(project_id: int) -> Compared:
    """How the paths of a project are compared: known of the current call's, else read from the database."""
    caller = current()
    if caller and caller.project_id == project_id:
        return compared_by(caller)
    return fold_path if config_of(project_id).ignore_case_in_paths else as_written
