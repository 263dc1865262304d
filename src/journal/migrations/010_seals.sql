-- The hash chain over the entries of an event. The columns are documented in SCHEMA.md.

CREATE TABLE seals (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    game   INTEGER,
    parts  BLOB    NOT NULL,
    sha256 BLOB    NOT NULL,
    PRIMARY KEY (event, seq)
) STRICT, WITHOUT ROWID;
