-- What played as each player in a run.

CREATE TABLE identities (
    event   INTEGER NOT NULL,
    run     INTEGER NOT NULL,
    player  INTEGER NOT NULL,
    program TEXT    NOT NULL,
    sha256  TEXT,
    id_name TEXT,
    files   TEXT    NOT NULL,
    PRIMARY KEY (event, run, player),
    FOREIGN KEY (event, run) REFERENCES runs (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;
