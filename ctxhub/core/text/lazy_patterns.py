"""Regular expressions that are compiled at their first use: to compile all at a start took a tenth of it."""

import re
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled pattern, and keeps its methods once they are used: later calls cost the same."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return cast(re.Pattern[str], _LazyPattern(pattern, flags))
