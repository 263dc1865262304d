-- Peak memory of engines.

CREATE TABLE memory (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER NOT NULL,
    kib    INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;
