"""Places in a page for what is measured or computed: between `<!-- name -->` and `<!-- end -->`."""

from collections.abc import Mapping

END = "<!-- end -->"


def fill_places(page: str, made: Mapping[str, str]) -> str:
    """The page with each text in its place. Raises ValueError for a name without exactly one place."""
    for name, text in made.items():
        before, mark, after = page.partition(f"<!-- {name} -->\n")
        _, end, rest = after.partition(END)
        if not mark or not end or f"<!-- {name} -->" in rest:
            raise ValueError(f"The page has none or several places for {name}.")
        page = f"{before}{mark}{text}\n{end}{rest}"
    return page


def in_place(page: str, name: str) -> str:
    """What stands in a place. Raises ValueError as `fill_places` does."""
    fill_places(page, {name: ""})
    return page.partition(f"<!-- {name} -->\n")[2].partition(END)[0].rstrip("\n")
