"""The tables of sqlew's versions, as far as an import reads them.

Version 2 is what the program itself makes (test_the_program.py holds the two against each other), version 1
what its documentation says; 3 to 5 follow from the migrations it published.
"""

NAMES = """
    CREATE TABLE {naming}agents (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}files (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}context_keys (id INTEGER PRIMARY KEY AUTOINCREMENT, {key} TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}constraint_categories (id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}layers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}tags (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}scopes (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL);
"""

VERSION_1 = (
    NAMES.format(naming="", key="key_name")
    + """
    CREATE TABLE decisions (id INTEGER PRIMARY KEY AUTOINCREMENT, key_id INTEGER NOT NULL UNIQUE,
        value TEXT NOT NULL, agent_id INTEGER NOT NULL, layer_id INTEGER, version TEXT,
        status INTEGER DEFAULT 1, ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE decisions_numeric (id INTEGER PRIMARY KEY AUTOINCREMENT, key_id INTEGER NOT NULL UNIQUE,
        value REAL NOT NULL, agent_id INTEGER NOT NULL, layer_id INTEGER, version TEXT,
        status INTEGER DEFAULT 1, ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE decision_history (id INTEGER PRIMARY KEY AUTOINCREMENT, key_id INTEGER NOT NULL,
        value TEXT NOT NULL, agent_id INTEGER NOT NULL, version TEXT, ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE decision_tags (decision_id INTEGER, tag_id INTEGER, PRIMARY KEY (decision_id, tag_id));
    CREATE TABLE decision_scopes (decision_id INTEGER, scope_id INTEGER, PRIMARY KEY (decision_id, scope_id));
    CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, from_agent_id INTEGER NOT NULL,
        to_agent_id INTEGER, msg_type INTEGER NOT NULL, message TEXT NOT NULL, priority INTEGER DEFAULT 2,
        payload TEXT, read INTEGER DEFAULT 0, ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE file_changes (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL,
        agent_id INTEGER NOT NULL, change_type INTEGER NOT NULL, layer_id INTEGER, description TEXT,
        ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE constraints (id INTEGER PRIMARY KEY AUTOINCREMENT, category_id INTEGER NOT NULL,
        constraint_text TEXT NOT NULL, priority INTEGER DEFAULT 2, layer_id INTEGER, created_by INTEGER,
        is_active INTEGER DEFAULT 1, ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE constraint_tags (constraint_id INTEGER, tag_id INTEGER, PRIMARY KEY (constraint_id, tag_id));
"""
)

_CONFIG = """
    CREATE TABLE m_config (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO m_config VALUES ('autodelete_ignore_weekend', '0'), ('autodelete_message_hours', '24'),
        ('autodelete_file_history_days', '7');
"""

_MESSAGES = """
    CREATE TABLE t_agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, from_agent_id INTEGER NOT NULL,
        to_agent_id INTEGER, msg_type INTEGER NOT NULL, priority INTEGER DEFAULT 2, payload TEXT,
        ts INTEGER DEFAULT (unixepoch()), read INTEGER DEFAULT 0{text});
"""

VERSION_2 = (
    NAMES.format(naming="m_", key="key")
    + _CONFIG
    + _MESSAGES.format(text="")
    + """
    CREATE TABLE t_decisions (key_id INTEGER PRIMARY KEY, value TEXT NOT NULL, agent_id INTEGER,
        layer_id INTEGER, version TEXT DEFAULT '1.0.0', status INTEGER DEFAULT 1,
        ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE t_decisions_numeric (key_id INTEGER PRIMARY KEY, value REAL NOT NULL, agent_id INTEGER,
        layer_id INTEGER, version TEXT DEFAULT '1.0.0', status INTEGER DEFAULT 1,
        ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE t_decision_history (id INTEGER PRIMARY KEY AUTOINCREMENT, key_id INTEGER,
        version TEXT NOT NULL, value TEXT NOT NULL, agent_id INTEGER, ts INTEGER NOT NULL);
    CREATE TABLE t_decision_tags (decision_key_id INTEGER, tag_id INTEGER,
        PRIMARY KEY (decision_key_id, tag_id));
    CREATE TABLE t_decision_scopes (decision_key_id INTEGER, scope_id INTEGER,
        PRIMARY KEY (decision_key_id, scope_id));
    CREATE TABLE t_file_changes (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL,
        agent_id INTEGER NOT NULL, layer_id INTEGER, change_type INTEGER NOT NULL, description TEXT,
        ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE t_constraints (id INTEGER PRIMARY KEY AUTOINCREMENT, category_id INTEGER NOT NULL,
        layer_id INTEGER, constraint_text TEXT NOT NULL, priority INTEGER DEFAULT 2, active INTEGER DEFAULT 1,
        created_by INTEGER, ts INTEGER DEFAULT (unixepoch()));
    CREATE TABLE t_constraint_tags (constraint_id INTEGER, tag_id INTEGER,
        PRIMARY KEY (constraint_id, tag_id));
"""
)

_CONTEXT = """
    CREATE TABLE {others}decision_context (id INTEGER PRIMARY KEY AUTOINCREMENT, decision_key_id INTEGER,
        project_id INTEGER NOT NULL DEFAULT 1, rationale TEXT, alternatives_considered TEXT, tradeoffs TEXT,
        decision_date INTEGER, related_task_id INTEGER, related_constraint_id INTEGER, ts INTEGER);
"""

# Messages have a text from here on; of the other additions of 3.0 to 3.6 ctxhub has only the reasons.
VERSION_3 = (
    VERSION_2.replace(_MESSAGES.format(text=""), _MESSAGES.format(text=", message TEXT NOT NULL DEFAULT ''"))
    + _CONTEXT.format(others="t_")
    + """
    CREATE TABLE t_activity_log (id INTEGER PRIMARY KEY AUTOINCREMENT, ts INTEGER, agent_id INTEGER NOT NULL,
        action_type TEXT NOT NULL, target TEXT NOT NULL, layer_id INTEGER, details TEXT);
    CREATE TABLE t_decision_templates (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL,
        defaults TEXT NOT NULL, required_fields TEXT, created_by INTEGER, ts INTEGER);
    CREATE TABLE t_tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, status_id INTEGER);
"""
)

# From 3.7 on a file may hold several projects; from 4 on there are no agents and no messages.
_WITH_PROJECTS = """
    CREATE TABLE {naming}projects (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL,
        detection_source TEXT NOT NULL DEFAULT 'git', created_ts INTEGER, last_active_ts INTEGER);
    CREATE TABLE {naming}context_keys (id INTEGER PRIMARY KEY AUTOINCREMENT, key_name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}constraint_categories (id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}layers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL);
    CREATE TABLE {naming}tags (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id INTEGER NOT NULL DEFAULT 1,
        name TEXT NOT NULL, UNIQUE (project_id, name));
    CREATE TABLE {naming}scopes (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id INTEGER NOT NULL DEFAULT 1,
        name TEXT NOT NULL, UNIQUE (project_id, name));
    CREATE TABLE {others}decisions (key_id INTEGER NOT NULL, project_id INTEGER NOT NULL, value TEXT NOT NULL,
        layer_id INTEGER, version TEXT DEFAULT '1.0.0', status INTEGER DEFAULT 1, ts INTEGER,
        PRIMARY KEY (key_id, project_id));
    CREATE TABLE {others}decisions_numeric (key_id INTEGER NOT NULL, project_id INTEGER NOT NULL,
        value DOUBLE NOT NULL, layer_id INTEGER, version TEXT DEFAULT '1.0.0', status INTEGER DEFAULT 1,
        ts INTEGER, PRIMARY KEY (key_id, project_id));
    CREATE TABLE {others}decision_history (id INTEGER PRIMARY KEY AUTOINCREMENT, key_id INTEGER NOT NULL,
        project_id INTEGER NOT NULL, version TEXT NOT NULL, value TEXT NOT NULL, ts INTEGER);
    CREATE TABLE {others}decision_tags (decision_key_id INTEGER NOT NULL, project_id INTEGER NOT NULL,
        tag_id INTEGER NOT NULL, PRIMARY KEY (decision_key_id, project_id, tag_id));
    CREATE TABLE {others}decision_scopes (decision_key_id INTEGER NOT NULL, project_id INTEGER NOT NULL,
        scope_id INTEGER NOT NULL, PRIMARY KEY (decision_key_id, project_id, scope_id));
    CREATE TABLE {others}constraints (id INTEGER PRIMARY KEY AUTOINCREMENT, category_id INTEGER NOT NULL,
        project_id INTEGER NOT NULL, layer_id INTEGER, constraint_text TEXT NOT NULL,
        priority INTEGER DEFAULT 2, active INTEGER DEFAULT 1, ts INTEGER{reason});
    CREATE TABLE {others}constraint_tags (constraint_id INTEGER NOT NULL, tag_id INTEGER NOT NULL,
        PRIMARY KEY (constraint_id, tag_id));
"""
_FILES = """
    CREATE TABLE {naming}files (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id INTEGER NOT NULL DEFAULT 1,
        path TEXT NOT NULL, UNIQUE (project_id, path));
    CREATE TABLE {others}file_changes (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL,
        project_id INTEGER NOT NULL, layer_id INTEGER, change_type INTEGER NOT NULL, description TEXT,
        ts INTEGER);
"""

VERSION_4 = (_WITH_PROJECTS + _CONTEXT + _FILES).format(naming="v4_", others="v4_", reason="")
VERSION_5 = (_WITH_PROJECTS + _CONTEXT).format(naming="m_", others="t_", reason=", reason TEXT")

SCHEMAS = {1: VERSION_1, 2: VERSION_2, 3: VERSION_3, 4: VERSION_4, 5: VERSION_5}
PREFIXES = {1: ("", ""), 2: ("m_", "t_"), 3: ("m_", "t_"), 4: ("v4_", "v4_"), 5: ("m_", "t_")}
FIVE = ("presentation", "business", "data", "infrastructure", "cross-cutting")
NINE = (*FIVE, "documentation", "planning", "coordination", "review")
LAYERS = {1: FIVE, 2: FIVE, 3: FIVE, 4: NINE, 5: NINE}
