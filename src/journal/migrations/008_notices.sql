-- Notices that were delivered.

CREATE TABLE notices (
    event   INTEGER NOT NULL REFERENCES events (id),
    channel TEXT    NOT NULL,
    notice  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (event, channel, notice)
) STRICT, WITHOUT ROWID;
