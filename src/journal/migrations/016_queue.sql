-- The queue of `renmei queue`. The games of a test are an event of the same file.
CREATE TABLE queued_tests (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    event      TEXT    NOT NULL UNIQUE,
    title      TEXT    NOT NULL,
    added_at   INTEGER NOT NULL,
    repository TEXT    NOT NULL,
    config     TEXT    NOT NULL,
    base       TEXT    NOT NULL,
    commits    TEXT    NOT NULL,
    priority   INTEGER NOT NULL DEFAULT 0,
    share      INTEGER NOT NULL DEFAULT 100 CHECK (share > 0),
    paused     INTEGER NOT NULL DEFAULT 0,
    failed_at  INTEGER,
    fault      TEXT,
    removed_at INTEGER,
    pruned_at  INTEGER
) STRICT;
