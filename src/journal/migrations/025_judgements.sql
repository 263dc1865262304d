-- What the judge of an event, a neutral engine, said of positions of running games.
CREATE TABLE judgements (
    event    INTEGER NOT NULL REFERENCES events (id),
    number   INTEGER NOT NULL,
    ply      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    color    INTEGER NOT NULL,
    score_cp INTEGER,
    mate     INTEGER,
    depth    INTEGER,
    nodes    INTEGER,
    PRIMARY KEY (event, number, ply)
) STRICT, WITHOUT ROWID;
