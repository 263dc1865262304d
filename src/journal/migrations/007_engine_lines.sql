-- What engines said and were told in games that ended by a fault. The columns are documented in SCHEMA.md.

-- Not in `wire`: in a game on a server one player has a connection and an engine.
CREATE TABLE engine_lines (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    color  INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    lines  BLOB    NOT NULL,
    PRIMARY KEY (event, number, color, part)
) STRICT;
