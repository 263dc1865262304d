-- Trips of players on a host. The columns are documented in SCHEMA.md.

CREATE TABLE trip_keys (
    event INTEGER PRIMARY KEY REFERENCES events (id),
    key   BLOB    NOT NULL
) STRICT;

CREATE TABLE entrant_trips (
    event INTEGER NOT NULL REFERENCES events (id),
    name  TEXT    NOT NULL,
    trip  TEXT    NOT NULL,
    PRIMARY KEY (event, name)
) STRICT, WITHOUT ROWID;

-- The former name is not kept: it contained a hash of the player's secret that is quick to try.
CREATE TABLE renamed (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;
