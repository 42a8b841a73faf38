"""The form of a template shows its lists and patterns as text."""

from ctxhub.core.kit.caller import Caller
from memory.models import DecisionTemplate
from memory.templates.services import set_template
from tests.people import member


def test_the_form_shows_lists_and_patterns_as_text(ada: Caller) -> None:
    patterns = {"severity": "^(low|high)$", "cve_id": r"^CVE-\d{4}"}
    set_template(caller=ada, name="Incident", require=["rationale", "severity"], patterns=patterns)
    row = DecisionTemplate.objects.in_project(ada.project).get()
    page = member(ada.project).get(f"/admin/memory/decisiontemplate/{row.pk}/change/")
    form = page.context["adminform"].form
    assert form["require"].value() == "rationale, severity"
    assert form["patterns"].value() == "cve_id: ^CVE-\\d{4}\nseverity: ^(low|high)$"
