-- What the operator did; and what a game had ended with before it was ruled otherwise.

CREATE TABLE operations (
    event   INTEGER NOT NULL REFERENCES events (id),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    by_     TEXT    NOT NULL,
    reason  TEXT    NOT NULL,
    undoes  INTEGER,
    action  TEXT    NOT NULL,
    game    INTEGER,
    words   TEXT    NOT NULL,
    details TEXT    NOT NULL,
    PRIMARY KEY (event, seq),
    UNIQUE (event, number)
) STRICT, WITHOUT ROWID;

-- The operation that gave the game its present result; NULL for a game that stands as it ended.
ALTER TABLE games ADD COLUMN ruling INTEGER;
-- What the game itself ended with, where that is not its present result.
ALTER TABLE games ADD COLUMN ended_result TEXT;
ALTER TABLE games ADD COLUMN ended_cause TEXT;
ALTER TABLE games ADD COLUMN ended_replayed INTEGER;
