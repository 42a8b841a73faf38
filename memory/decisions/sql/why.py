"""Why a decision is as it is, as SQL: the rationale of its current version, after why it was deprecated."""

from memory.decisions.models.decision import DecisionStatus

# The alias `d` is the decision. A paragraph each.
WHY = f"""CASE WHEN d.status = {DecisionStatus.DEPRECATED.value} AND d.reason <> ''
    THEN 'Deprecated: ' || d.reason || CASE WHEN d.rationale <> '' THEN '\n\n' || d.rationale ELSE '' END
    ELSE d.rationale END"""
