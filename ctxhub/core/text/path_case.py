"""Paths without case, as macOS and Windows compare them."""


def fold_path(path: str) -> str:
    """The path or glob without case. No character becomes two: `straße` is no `strasse`."""
    if path.isascii():
        return path.lower()
    return "".join(folded if len(folded := each.casefold()) == 1 else each for each in path)
