"""Registers the admin pages of the memory app, and what pages of others show of it."""

import memory.constraints.admin
import memory.contexts.admin
import memory.decisions.admin
import memory.memories.admin
import memory.relationships.admin
import memory.scratchpads.admin
import memory.snapshots.admin
import memory.templates.admin
import memory.workflows.admin
from ctxhub.console import dashboard
from ctxhub.console.away.sources import kinds
from ctxhub.console.links import OwnGraph, own_graphs
from ctxhub.console.needs.sources import sources as needs
from ctxhub.console.search_hits import own_titles
from ctxhub.console.timeline.sources import sources as timeline
from ctxhub.console.use.changed import most_changed_of
from memory.away import WRITTEN
from memory.constraints.history import title_of_hit
from memory.decisions.timeline import changed_decisions
from memory.overview import knowledge_amounts
from memory.relationships import graph
from memory.scratchpads.needs import filled_pads
from memory.snapshots import cause_graph
from memory.statistics.admin import changed_keys

dashboard.inventory.append(knowledge_amounts)
kinds += WRITTEN
needs.append(filled_pads)
timeline.append(changed_decisions)
most_changed_of.append(changed_keys)
own_titles["constraint"] = title_of_hit
own_graphs["memory"] = OwnGraph(graph.NOUN, graph.SECTION)
own_graphs["snapshot"] = OwnGraph("snapshot", cause_graph.SECTION)
