-- People who use the pages: those who run the event, and those who want to take part in it.

CREATE TABLE web_accounts (
    name       TEXT PRIMARY KEY,
    role       TEXT    NOT NULL CHECK (role IN ('arbiter', 'operator')),
    hash       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE registrations (
    name     TEXT PRIMARY KEY,
    hash     TEXT    NOT NULL,
    note     TEXT    NOT NULL,
    address  TEXT    NOT NULL,
    asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `code` is the SHA-256 of what the invited person was given.
CREATE TABLE invitations (
    code       TEXT PRIMARY KEY,
    note       TEXT    NOT NULL,
    by_        TEXT    NOT NULL,
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
