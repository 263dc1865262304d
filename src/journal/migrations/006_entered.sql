-- A player who comes to a running event is an entry of its own: the head of the event with all players, written anew for
-- each of them, grows with their square.

CREATE TABLE entered (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;
