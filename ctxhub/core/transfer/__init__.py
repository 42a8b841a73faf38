"""Export and import: what a project holds as JSON Lines, and back (docs/decisions/0024)."""

# The modules in which the apps say what their nouns are in an export; imported when first needed.
modules = ["ctxhub.core.transfer.exports"]
