"""The SQL of the index that Django cannot declare: SQLite's FTS5 table with triggers, PostgreSQL's index.

Triggers and an expression index keep it consistent with `core_searchtext`, so bulk writes, cascades and plain
SQL cannot bypass it.
"""

from collections.abc import Sequence

FTS_TABLE = "core_searchfts"
FTS_CONTENT = "core_searchtokens"
# Between a project's id and a word, in SQLite's tokens; no word has it.
OF_PROJECT = "·"
TRIGGERS = ("core_searchfts_insert", "core_searchfts_delete", "core_searchfts_update")

# Each word has its project in front, so looking it up reads no word of another project. What filters match
# has a P before that: it differs from every word of a text. The project's own word, the first, has none.
_TOKENS = f"""replace(' ' || {{row}}.words, ' ', ' ' || {{row}}.project_id || '{OF_PROJECT}')
    || ' ' || replace({{row}}.scope, ' ', ' P' || {{row}}.project_id || '{OF_PROJECT}')"""
_OLD = f"""INSERT INTO {FTS_TABLE}({FTS_TABLE}, rowid, words)
    VALUES ('delete', old.id, {_TOKENS.format(row="old")});"""
_NEW = f"INSERT INTO {FTS_TABLE}(rowid, words) VALUES (new.id, {_TOKENS.format(row='new')});"

# columnsize=0: nothing reads how many words a row has.
SQLITE: Sequence[str] = (
    f"""CREATE VIEW IF NOT EXISTS {FTS_CONTENT} AS
        SELECT t.id, {_TOKENS.format(row="t")} AS words FROM core_searchtext t""",
    f"""CREATE VIRTUAL TABLE IF NOT EXISTS {FTS_TABLE} USING fts5(
        words, content='{FTS_CONTENT}', content_rowid='id', tokenize='ascii', columnsize=0)""",
    f"CREATE TRIGGER IF NOT EXISTS {TRIGGERS[0]} AFTER INSERT ON core_searchtext BEGIN {_NEW} END",
    f"CREATE TRIGGER IF NOT EXISTS {TRIGGERS[1]} AFTER DELETE ON core_searchtext BEGIN {_OLD} END",
    f"""CREATE TRIGGER IF NOT EXISTS {TRIGGERS[2]} AFTER UPDATE ON core_searchtext
        WHEN old.words IS NOT new.words OR old.scope IS NOT new.scope OR old.id IS NOT new.id
            OR old.project_id IS NOT new.project_id
        BEGIN {_OLD} {_NEW} END""",
)
SQLITE_REBUILD = f"INSERT INTO {FTS_TABLE}({FTS_TABLE}) VALUES ('rebuild')"
SQLITE_UNDO: Sequence[str] = (
    *(f"DROP TRIGGER IF EXISTS {name}" for name in TRIGGERS),
    f"DROP TABLE IF EXISTS {FTS_TABLE}",
    f"DROP VIEW IF EXISTS {FTS_CONTENT}",
)

# The function sets positions itself instead of PostgreSQL's parser; they end at 16,383. The vectors are not
# stored: they would be twice the text, and only phrase queries need more than the index. fastupdate would
# keep new rows on a pending list that every query reads. COST: computing a vector takes 0.2 ms; at the
# default cost the planner scans small tables, and a query takes 100 ms. UNSAFE: at this cost the planner
# would start parallel workers, which takes longer than the query.
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
