"""Sets the mark of files: the importance that somebody gives them, instead of the computed one."""

from collections.abc import Sequence

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.services.names import register_agent
from tracking.history.files import record_marks
from tracking.inputs.contents import clean_facts
from tracking.selectors.paths import clean_file
from tracking.sql.resources import read_files, write_mark


def mark_files(*, caller: Caller, paths: Sequence[str], importance: int | None) -> int:
    """Set the importance of files, 0 to 100; None: it is computed again. Returns how many it changed.

    Raises NotFound, and changes nothing, if no agent has touched one of the files.
    """
    files = list(dict.fromkeys(map(clean_file, paths)))
    mark = clean_facts(importance=importance).mark
    with write_transaction(caller.project_id):
        known = read_files(caller.project_id, files)
        if unknown := [file for file in files if file not in known]:
            raise NotFound(f"No agent has touched the file {unknown[0]}.")
        changed = [known[file] for file in files if known[file].mark != mark]
        if not changed:
            return 0
        at = clock.now()
        agent_id = register_agent(caller, at)
        write_mark(caller.project_id, [file.id for file in changed], mark)
        record_marks(caller.project_id, agent_id, paths=[file.path for file in changed], mark=mark, at=at)
    return len(changed)
