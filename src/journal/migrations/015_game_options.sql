-- Options that an engine was given for a game alone, as by a tuning: a JSON object of names and values.

CREATE TABLE game_options (
    event   INTEGER NOT NULL REFERENCES events (id),
    number  INTEGER NOT NULL,
    color   INTEGER NOT NULL,
    options TEXT    NOT NULL,
    PRIMARY KEY (event, number, color)
) STRICT, WITHOUT ROWID;
