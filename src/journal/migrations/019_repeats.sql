-- Pairs that were played again by another machine, and compared; they count nothing.
CREATE TABLE repeats (
    id         INTEGER PRIMARY KEY,
    event      INTEGER NOT NULL REFERENCES events (id),
    stage      INTEGER NOT NULL,
    index_     INTEGER NOT NULL,
    machine    TEXT    NOT NULL,
    again      TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    difference TEXT
) STRICT;
CREATE INDEX repeats_of_event ON repeats (event);
