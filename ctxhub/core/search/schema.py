"""What Django cannot declare of the index: SQLite's FTS5 table with its triggers, PostgreSQL's index.

Triggers and an index on an expression, and no code of ours, keep the index in step with `core_searchtext`, so
that bulk writes, cascades and plain SQL cannot pass it by.
"""

from collections.abc import Sequence

FTS_TABLE = "core_searchfts"
TRIGGERS = ("core_searchfts_insert", "core_searchfts_delete", "core_searchfts_update")

_OLD = f"""INSERT INTO {FTS_TABLE}({FTS_TABLE}, rowid, words, scope)
    VALUES ('delete', old.id, old.words, old.scope);"""  # noqa: S608
_NEW = f"INSERT INTO {FTS_TABLE}(rowid, words, scope) VALUES (new.id, new.words, new.scope);"  # noqa: S608

SQLITE: Sequence[str] = (
    f"""CREATE VIRTUAL TABLE IF NOT EXISTS {FTS_TABLE} USING fts5(
        words, scope, content='core_searchtext', content_rowid='id', tokenize='ascii')""",
    f"CREATE TRIGGER IF NOT EXISTS {TRIGGERS[0]} AFTER INSERT ON core_searchtext BEGIN {_NEW} END",
    f"CREATE TRIGGER IF NOT EXISTS {TRIGGERS[1]} AFTER DELETE ON core_searchtext BEGIN {_OLD} END",
    f"""CREATE TRIGGER IF NOT EXISTS {TRIGGERS[2]} AFTER UPDATE ON core_searchtext
        WHEN old.words IS NOT new.words OR old.scope IS NOT new.scope OR old.id IS NOT new.id
        BEGIN {_OLD} {_NEW} END""",
)
SQLITE_UNDO: Sequence[str] = (
    *(f"DROP TRIGGER IF EXISTS {name}" for name in TRIGGERS),
    f"DROP TABLE IF EXISTS {FTS_TABLE}",
)

# The words stand in their places past PostgreSQL's own parser, which counts places up to 16,383. The vectors
# themselves are not kept: they would be twice the text, and the index answers all but phrases without them.
# fastupdate would keep what is new on a list that every question reads. COST: to make a vector takes 0.2 ms;
# unless told, the planner reads through small tables, and a question takes 100 ms. UNSAFE: at that price it
# would start other processes, which takes longer than the question.
POSTGRESQL: Sequence[str] = (
    """CREATE OR REPLACE FUNCTION core_search_vector(words text, scope text) RETURNS tsvector
        LANGUAGE sql IMMUTABLE PARALLEL UNSAFE COST 10000 AS $$
        SELECT coalesce(string_agg(quote_literal(word) || ':' || least(place, 16383), ' '), '')::tsvector
        FROM unnest(string_to_array(words || ' ' || scope, ' ')) WITH ORDINALITY AS all_words(word, place)
        WHERE word <> '' $$""",
    """CREATE INDEX IF NOT EXISTS core_searchtext_vector ON core_searchtext
        USING gin (core_search_vector(words, scope)) WITH (fastupdate = off)""",
)
POSTGRESQL_UNDO: Sequence[str] = (
    "DROP INDEX IF EXISTS core_searchtext_vector",
    "DROP FUNCTION IF EXISTS core_search_vector(text, text)",
)
