"""Places in a page for what is measured or computed: between `<!-- name -->` and `<!-- end -->`."""

import re
from collections.abc import Mapping


def fill_places(page: str, made: Mapping[str, str]) -> str:
    """The page with each text in its place. Raises ValueError for a name that has no place, or several."""
    for name, text in made.items():
        parts = re.split(rf"(?<=<!-- {name} -->\n)(?:.*?)(?=\n?<!-- end -->)", page, flags=re.DOTALL)
        if len(parts) != 2:
            raise ValueError(f"The page has {len(parts) - 1} places for {name}.")
        page = f"{parts[0]}{text}{parts[1] if parts[1].startswith(chr(10)) else chr(10) + parts[1]}"
    return page
