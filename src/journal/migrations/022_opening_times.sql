-- What a server charged for the moves that a game began with.

CREATE TABLE opening_times (
    event      INTEGER NOT NULL REFERENCES events (id),
    number     INTEGER NOT NULL,
    ply        INTEGER NOT NULL,
    charged_ms INTEGER NOT NULL,
    PRIMARY KEY (event, number, ply)
) STRICT, WITHOUT ROWID;
