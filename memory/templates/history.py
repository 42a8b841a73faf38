"""Records every change of a template as an event."""

from ctxhub.core.history import History
from memory.templates.rows import OWN_TEMPLATES, TemplateRow


class TemplateHistory(History[TemplateRow]):
    kind = "template"
    table = OWN_TEMPLATES
    compared = ("name", "defaults", "require", "patterns")
    is_counted = is_indexed = False
    signs_changes = True

    def ref(self, row: TemplateRow) -> str:
        return f"template:{row.name}"


HISTORY = TemplateHistory()
