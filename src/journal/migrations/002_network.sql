-- Play over a network: accounts, buoys, and transcripts of games. The columns are documented in SCHEMA.md.

CREATE TABLE accounts (
    name       TEXT PRIMARY KEY,
    hash       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE buoys (
    event INTEGER NOT NULL REFERENCES events (id),
    name  TEXT    NOT NULL,
    moves TEXT    NOT NULL,
    owner TEXT    NOT NULL,
    left_ INTEGER NOT NULL,
    PRIMARY KEY (event, name)
) STRICT, WITHOUT ROWID;

-- Not a column of `games`: the Game_ID is announced before the game begins.
CREATE TABLE game_names (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    PRIMARY KEY (event, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX game_names_by_name ON game_names (name);

CREATE TABLE wire (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    color  INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    lines  BLOB    NOT NULL,
    PRIMARY KEY (event, number, color, part)
) STRICT;
