"""Reads what prioritisation needs: the session of the call, and how well files match a query."""

from ctxhub.core.accounts.selectors.agents import find_agent_id
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import COUNTED_TO
from ctxhub.core.search.candidates import find_candidates
from ctxhub.core.search.ranking import rank
from ctxhub.core.search.selectors.questions import prepare
from ctxhub.core.search.selectors.search import with_priors
from sessions.sittings.selectors.calls import another_agents, find_session

# The best passages of the project that get a score; other files get none.
SCORED_PASSAGES = 1_000


def find_own_session(caller: Caller) -> int | None:
    """The session that the call belongs to, if it has one. Raises NotAllowed for another agent's."""
    found = find_session(caller)
    if found is None:
        return None
    if found.agent_id is None or found.agent_id != find_agent_id(caller.project_id, caller.agent):
        raise another_agents(found.id)
    return found.id


def query_scores(project_id: int, query: str) -> dict[int, float]:
    """The search scores of files, 0 to 1, by their ids; of those that match best."""
    search = prepare(project_id, query, kinds=["resource"], earlier=False)
    if search is None or not search.weights:
        return {}
    candidates, _ = find_candidates(
        search.narrowing, search.query, search.weights, SCORED_PASSAGES, COUNTED_TO + 1, search.counts
    )
    ranked = with_priors(rank(candidates, search.weights), for_reasons=False)
    return {each.candidate.object_id: each.score for each in ranked}
