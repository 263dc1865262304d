-- Games that other machines play: the leases by which these have them, and who played what.

-- The name of an event on the wire, and how often a manager has begun to hand its games to machines.
CREATE TABLE fleets (
    event INTEGER PRIMARY KEY REFERENCES events (id),
    key   TEXT    NOT NULL,
    epoch INTEGER NOT NULL
) STRICT;

-- A lease of one machine on the games of a pair. `sha256` is that of the answer by which it was committed.
CREATE TABLE leases (
    id           INTEGER PRIMARY KEY,
    event        INTEGER NOT NULL REFERENCES events (id),
    lease        INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    machine      TEXT    NOT NULL,
    worker       TEXT    NOT NULL,
    games        TEXT    NOT NULL,
    issued_at    INTEGER NOT NULL,
    committed_at INTEGER,
    sha256       TEXT,
    UNIQUE (event, lease)
) STRICT;
CREATE INDEX open_leases ON leases (event, id) WHERE committed_at IS NULL;

-- The machine that played the game; NULL: the one of the manager.
ALTER TABLE games ADD COLUMN machine TEXT;
