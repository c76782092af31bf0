CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entities (
    entity_id TEXT PRIMARY KEY, entity_type TEXT NOT NULL, canonical_key TEXT NOT NULL, title TEXT NOT NULL,
    title_norm TEXT NOT NULL, project_id TEXT NOT NULL, status TEXT NOT NULL, current_json TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entities_by_key ON entities (entity_type, canonical_key);
CREATE INDEX IF NOT EXISTS entities_by_name ON entities (title_norm);
CREATE INDEX IF NOT EXISTS entities_by_project ON entities (entity_type, project_id, status);
CREATE TABLE IF NOT EXISTS entity_aliases (
    entity_type TEXT NOT NULL, canonical_key TEXT NOT NULL, entity_id TEXT NOT NULL, is_primary INTEGER NOT NULL,
    PRIMARY KEY (entity_type, canonical_key, entity_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS aliases_by_entity ON entity_aliases (entity_id);
CREATE TABLE IF NOT EXISTS edges (
    src_type TEXT NOT NULL, src_id TEXT NOT NULL, rel_type TEXT NOT NULL, dst_type TEXT NOT NULL, dst_id TEXT NOT NULL,
    project_id TEXT NOT NULL, meta_json TEXT NOT NULL, PRIMARY KEY (src_type, src_id, rel_type, dst_type, dst_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edges_by_target ON edges (dst_id, rel_type);
CREATE TABLE IF NOT EXISTS steps (
    task_id TEXT NOT NULL, at_ms INTEGER NOT NULL, event_id TEXT NOT NULL, ordinal INTEGER NOT NULL,
    project_id TEXT NOT NULL, PRIMARY KEY (task_id, at_ms, event_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS steps_by_event ON steps (event_id);
CREATE TABLE IF NOT EXISTS events (
    event_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, at_ms INTEGER NOT NULL, session_id TEXT NOT NULL,
    prompt_id TEXT NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS maybe_done (task_id TEXT PRIMARY KEY, why TEXT NOT NULL) WITHOUT ROWID;
-- The memory of a task as it was last written: another one is a person's change.
CREATE TABLE IF NOT EXISTS published (task_id TEXT PRIMARY KEY, text TEXT NOT NULL, is_open INTEGER NOT NULL) WITHOUT ROWID;
-- A blocker stands for what it turned out to be. A task that is closed, or forgotten, blocks nobody any more.
DROP VIEW IF EXISTS task_blockers_effective;
CREATE VIEW task_blockers_effective AS
SELECT edge.src_id AS task_id, edge.rel_type AS rel_type, edge.dst_id AS named_id,
       coalesce(resolved.dst_type, edge.dst_type) AS blocker_type, coalesce(resolved.dst_id, edge.dst_id) AS blocker_id
FROM edges AS edge
LEFT JOIN edges AS resolved
    ON resolved.src_type = edge.dst_type AND resolved.src_id = edge.dst_id AND resolved.rel_type = 'resolves_to'
LEFT JOIN entities AS blocker ON blocker.entity_id = coalesce(resolved.dst_id, edge.dst_id)
WHERE edge.rel_type IN ('blocked_by', 'blocked_by_suggested')
    AND coalesce(blocker.status, 'cancelled') NOT IN ('done', 'cancelled');
