"""The action of the tool `memory` that searches the lines of files."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import QUESTION
from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import AT_MOST_A_PAGE, NAMES_FILES, About, Cursor, Number
from memory.grep import grep as files

# What a search of files takes.
Pattern = Annotated[str, About("A regular expression in RE2's syntax, matched line by line.", QUESTION)]
FilePath = Annotated[
    str,
    NAMES_FILES,
    About("A folder or file to look at; of several allowed folders its first part names one."),
]
Glob = Annotated[str, NAMES_FILES, About("Files of this name (*.py) or path (src/**/*.py).")]
UP_TO_MOST_LINES = {"minimum": 0, "maximum": files.MOST_CONTEXT}
ContextLines = Annotated[Number, About("How many lines before and after.", UP_TO_MOST_LINES)]


@action(
    "memory",
    "grep",
    quiet=True,
    example={"pattern": "def \\w+_product", "glob": "*.py", "context_lines": 2},
    also_known_as=("mgrep", "mgrep_files"),
)
def grep(
    caller: Caller,
    pattern: Pattern,
    path: FilePath | None = None,
    glob: Glob | None = None,
    ignore_case: Annotated[bool, About("Whether case does not count.")] = False,
    context_lines: ContextLines = 0,
    limit: Annotated[Number, About("How many lines; left out: 50.", AT_MOST_A_PAGE)] = 50,
    cursor: Cursor | None = None,
) -> Listing:
    """Lines of the project's files that match a regular expression (RE2), where an administrator allows it.

    `path`: a folder or file below the allowed folder; of several folders its first part names one. `glob`:
    *.py for a name, src/**/*.py for a path. `context_lines`: 0 to 5 before and after. Hidden, binary and
    large files are left out; `truncated`: there was more to look at than two seconds allow.
    """
    return files.grep(
        caller.project,
        pattern,
        path=path,
        glob=glob,
        ignore_case=ignore_case,
        context_lines=context_lines,
        limit=limit,
        cursor=cursor,
    )
