"""What axe may find, by the name of a page and the rule, and why. What it does not find any more fails."""

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("auth_user_add", "empty-table-header"): "the theme's table of memberships has a column for its crosses",
    ("auth_user_change", "empty-table-header"): "as where people are added",
}
