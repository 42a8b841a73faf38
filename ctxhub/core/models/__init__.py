from ctxhub.core.models.access_token import AccessToken
from ctxhub.core.models.agent import Agent
from ctxhub.core.models.event import Event
from ctxhub.core.models.project import Membership, Project
from ctxhub.core.models.search_index import SearchEntry, SearchText, SearchWord
from ctxhub.core.models.stored_answer import StoredAnswer
from ctxhub.core.models.tally import Tally
from ctxhub.core.models.vocabulary import Category, Layer, Scope, Tag

__all__ = [
    "AccessToken",
    "Agent",
    "Category",
    "Event",
    "Layer",
    "Membership",
    "Project",
    "Scope",
    "SearchEntry",
    "SearchText",
    "SearchWord",
    "StoredAnswer",
    "Tag",
    "Tally",
]
