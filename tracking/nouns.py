"""Registers the nouns of this app: change, resource, lease; known paths, and retention."""

from ctxhub.core import transfer
from ctxhub.core.events.cleanup import RetentionRule, cleanup_tasks, retention_rules
from ctxhub.core.hub.overview import register_agent_facts
from ctxhub.core.kit.known_names import hold_names
from ctxhub.core.links import heads_of
from ctxhub.core.paths import known
from ctxhub.core.paths.counting import changed_paths
from ctxhub.core.registry import Kept, Noun, counter_of, register
from tracking.changes.history import HISTORY as CHANGE_HISTORY
from tracking.changes.history import changed_path
from tracking.changes.queries import count_in_last_hour, open_changes
from tracking.changes.services import count_changes, remove_changes
from tracking.files.history import resource_documents
from tracking.files.paths import naming_files, naming_leased
from tracking.files.queries import ids_of_files, open_resources
from tracking.files.rows import find_spellings
from tracking.leases.history import HISTORY as LEASE_HISTORY
from tracking.leases.queries import count_by_agent, counting_live, open_leases
from tracking.leases.services import forget_leases
from tracking.models import FileChange, Lease, LeasePath, Resource

transfer.modules.append("tracking.exports")
changed_paths["change"] = changed_path
known.sources += [naming_files, naming_leased]
known.stored_spellings.append(find_spellings)
register(
    Noun(
        "change",
        "changes",
        FileChange,
        open=open_changes,
        text="description",
        by_layer=lambda stats: count_in_last_hour(stats.project_id),
        history=CHANGE_HISTORY,
        heads=heads_of("change", FileChange, "description", at="at"),
        deletion=Kept("removes old ones, with the scope admin", call=("hub", "clear")),
    )
)
register(
    Noun(
        "resource",
        "files",
        Resource,
        count=counter_of("resource"),
        open=open_resources,
        text="content",
        documents=resource_documents,
        is_kept=True,
        ids_of=ids_of_files,
        heads=heads_of("resource", Resource, "path", ref="path", at="created_at"),
        deletion=Kept(
            "what the hub knows of a file stays; file record with change deleted says that it is gone"
        ),
    )
)
register(
    Noun(
        "lease",
        "leases",
        Lease,
        count=counter_of("lease"),
        counting=counting_live,
        open=open_leases,
        text="reason",
        history=LEASE_HISTORY,
        heads=heads_of("lease", Lease, "reason", at="created_at", why="d.reason"),
        deletion=Kept("ends it", call=("file", "release")),
    )
)
hold_names(Resource, "path", found_by="path", kind="resource")
hold_names(LeasePath, "pattern", kind="lease", id_field="lease_id")
register_agent_facts(count_by_agent, "leases")
retention_rules.append(
    RetentionRule("changes", lambda config: config.changes_last, count_changes, remove_changes)
)
cleanup_tasks.append(lambda project_id, now, _: forget_leases(project_id, now))
