-- The whole schema. Columns are documented in SCHEMA.md. A change of it is another number (`SCHEMA` in database.rs).

-- Marks the file as this program's: the ASCII letters RNME.
PRAGMA application_id = 1380863301;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta VALUES ('created_at', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));

CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    kind        TEXT    NOT NULL DEFAULT 'run',
    created_at  INTEGER NOT NULL,
    plan        TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL
) STRICT;

CREATE TABLE players (
    event  INTEGER NOT NULL REFERENCES events (id),
    player INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    PRIMARY KEY (event, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE games (
    id             INTEGER PRIMARY KEY,
    event          INTEGER NOT NULL REFERENCES events (id),
    number         INTEGER NOT NULL,
    stage          INTEGER NOT NULL,
    index_         INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    round          INTEGER NOT NULL,
    pair           INTEGER NOT NULL,
    opening        INTEGER NOT NULL,
    black          INTEGER NOT NULL,
    white          INTEGER NOT NULL,
    start          TEXT,
    opening_moves  TEXT,
    started_at     INTEGER,
    ended_at       INTEGER,
    result         TEXT CHECK (result IN ('black', 'white', 'draw', 'aborted')),
    cause          TEXT,
    plies          INTEGER,
    evidence       TEXT,
    replayed       INTEGER,
    winner         TEXT AS (CASE WHEN result IN ('black', 'white') THEN result END) VIRTUAL,
    state         TEXT AS (CASE
                      WHEN ended_at IS NULL    THEN 'running'
                      WHEN cause = 'stopped'   THEN 'adjourned'
                      WHEN result = 'aborted'  THEN 'aborted'
                      WHEN replayed            THEN 'replayed'
                      ELSE 'counted' END) VIRTUAL,
    times          TEXT,
    pruned_at      INTEGER,
    -- The operation that gave the game its present result; NULL for a game that stands as it ended.
    ruling         INTEGER,
    -- What the game itself ended with, where that is not its present result.
    ended_result   TEXT,
    ended_cause    TEXT,
    ended_replayed INTEGER,
    -- The machine that played the game; NULL: the one of the manager.
    machine        TEXT,
    -- What the start and the moves of a game make together (`moves_hash` in `src/rules/referee/distinct.rs`); NULL where there are
    -- none to compare. Games with the same players, colours and ending that have it in common are one game played again.
    moves_hash     INTEGER,
    UNIQUE (event, number),
    FOREIGN KEY (event, black) REFERENCES players (event, player),
    FOREIGN KEY (event, white) REFERENCES players (event, player)
) STRICT;

CREATE TABLE moves (
    game       INTEGER NOT NULL REFERENCES games (id),
    ply        INTEGER NOT NULL,
    color      INTEGER NOT NULL,
    move       TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    charged_ms INTEGER NOT NULL,
    elapsed_us INTEGER NOT NULL,
    left_ms    INTEGER NOT NULL,
    engine_ms  INTEGER,
    depth      INTEGER,
    seldepth   INTEGER,
    score_cp   INTEGER,
    mate       INTEGER,
    nodes      INTEGER,
    nps        INTEGER,
    pv         TEXT,
    PRIMARY KEY (game, ply)
) STRICT, WITHOUT ROWID;

-- Order of all entries but moves.
CREATE TABLE log (
    event INTEGER NOT NULL REFERENCES events (id),
    seq   INTEGER NOT NULL,
    kind  TEXT    NOT NULL,
    game  INTEGER REFERENCES games (id),
    PRIMARY KEY (event, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    event   INTEGER NOT NULL REFERENCES events (id),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    format  TEXT    NOT NULL,
    resumed INTEGER NOT NULL,
    PRIMARY KEY (event, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE closings (
    event INTEGER NOT NULL REFERENCES events (id),
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (event, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE byes (
    event       INTEGER NOT NULL REFERENCES events (id),
    seq         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    stage       INTEGER NOT NULL,
    round       INTEGER NOT NULL,
    player      INTEGER NOT NULL,
    half_points INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE faults (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER,
    text   TEXT    NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdicts (
    event   INTEGER NOT NULL REFERENCES events (id),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    verdict TEXT    NOT NULL,
    llr     REAL,
    pairs   INTEGER NOT NULL,
    PRIMARY KEY (event, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
    name       TEXT PRIMARY KEY,
    hash       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE buoys (
    event INTEGER NOT NULL REFERENCES events (id),
    name  TEXT    NOT NULL,
    moves TEXT    NOT NULL,
    owner TEXT    NOT NULL,
    left_ INTEGER NOT NULL,
    PRIMARY KEY (event, name)
) STRICT, WITHOUT ROWID;

-- Not a column of `games`: the Game_ID is announced before the game begins.
CREATE TABLE game_names (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    PRIMARY KEY (event, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE wire (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    color  INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    lines  BLOB    NOT NULL,
    PRIMARY KEY (event, number, color, part)
) STRICT;

CREATE TABLE ratings (
    event  INTEGER NOT NULL REFERENCES events (id),
    player INTEGER NOT NULL,
    rate   REAL    NOT NULL,
    error  REAL,
    games  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (event, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER NOT NULL,
    kib    INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE entered (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;

-- Not in `wire`: in a game on a server one player has a connection and an engine.
CREATE TABLE engine_lines (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    color  INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    lines  BLOB    NOT NULL,
    PRIMARY KEY (event, number, color, part)
) STRICT;

CREATE TABLE notices (
    event   INTEGER NOT NULL REFERENCES events (id),
    channel TEXT    NOT NULL,
    notice  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (event, channel, notice)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE seals (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    game   INTEGER,
    parts  BLOB    NOT NULL,
    sha256 BLOB    NOT NULL,
    PRIMARY KEY (event, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE trip_keys (
    event INTEGER PRIMARY KEY REFERENCES events (id),
    key   BLOB    NOT NULL
) STRICT;

CREATE TABLE entrant_trips (
    event INTEGER NOT NULL REFERENCES events (id),
    name  TEXT    NOT NULL,
    trip  TEXT    NOT NULL,
    PRIMARY KEY (event, name)
) STRICT, WITHOUT ROWID;

-- The former name is not kept: it contained a hash of the player's secret that is quick to try.
CREATE TABLE renamed (
    event  INTEGER NOT NULL REFERENCES events (id),
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    player INTEGER NOT NULL,
    PRIMARY KEY (event, seq),
    FOREIGN KEY (event, player) REFERENCES players (event, player)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
    event   INTEGER NOT NULL REFERENCES events (id),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    by_     TEXT    NOT NULL,
    reason  TEXT    NOT NULL,
    undoes  INTEGER,
    action  TEXT    NOT NULL,
    game    INTEGER,
    words   TEXT    NOT NULL,
    details TEXT    NOT NULL,
    PRIMARY KEY (event, seq),
    UNIQUE (event, number)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE game_options (
    event   INTEGER NOT NULL REFERENCES events (id),
    number  INTEGER NOT NULL,
    color   INTEGER NOT NULL,
    options TEXT    NOT NULL,
    PRIMARY KEY (event, number, color)
) STRICT, WITHOUT ROWID;

-- The queue of `renmei queue`. The games of a test are an event of the same file.
CREATE TABLE queued_tests (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    event       TEXT    NOT NULL UNIQUE,
    title       TEXT    NOT NULL,
    added_at    INTEGER NOT NULL,
    repository  TEXT    NOT NULL,
    config      TEXT    NOT NULL,
    base        TEXT    NOT NULL,
    commits     TEXT    NOT NULL,
    priority    INTEGER NOT NULL DEFAULT 0,
    share       INTEGER NOT NULL DEFAULT 100 CHECK (share > 0),
    paused      INTEGER NOT NULL DEFAULT 0,
    failed_at   INTEGER,
    fault       TEXT,
    removed_at  INTEGER,
    pruned_at   INTEGER,
    -- What people say of a test of the queue, who added it, and who let it be played.
    note        TEXT    NOT NULL DEFAULT '',
    added_by    TEXT,
    asks        INTEGER NOT NULL DEFAULT 0,
    approved_by TEXT,
    approved_at INTEGER
) STRICT;

-- The name of an event on the wire, and how often a manager has begun to hand its games to machines.
CREATE TABLE fleets (
    event     INTEGER PRIMARY KEY REFERENCES events (id),
    key       TEXT    NOT NULL,
    epoch     INTEGER NOT NULL,
    -- The speed that all machines of the event are compared with, as JSON.
    reference TEXT
) STRICT;

-- A lease of one machine on the games of a pair. `sha256` is that of the answer by which it was committed.
CREATE TABLE leases (
    id           INTEGER PRIMARY KEY,
    event        INTEGER NOT NULL REFERENCES events (id),
    lease        INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    machine      TEXT    NOT NULL,
    worker       TEXT    NOT NULL,
    games        TEXT    NOT NULL,
    issued_at    INTEGER NOT NULL,
    committed_at INTEGER,
    sha256       TEXT,
    -- By how much the clocks of the machine are longer than those of the plan, in thousandths.
    clock_scale  INTEGER NOT NULL DEFAULT 1000,
    UNIQUE (event, lease)
) STRICT;

-- Machines as they were heard of last, for whoever looks on.
CREATE TABLE machines (
    event       INTEGER NOT NULL REFERENCES events (id),
    name        TEXT    NOT NULL,
    slots       INTEGER NOT NULL,
    cores       INTEGER NOT NULL,
    nps         INTEGER,
    clock_scale INTEGER NOT NULL,
    playing     INTEGER NOT NULL,
    faults      INTEGER NOT NULL,
    lag_ms      INTEGER NOT NULL,
    presence    TEXT    NOT NULL,
    word        TEXT    NOT NULL,
    seen_at     INTEGER NOT NULL,
    -- Since when a machine has had its oldest pair, in ms since 1970-01-01 UTC; NULL: it has none. A machine that has pairs for
    -- long and brings none back is seen by it.
    held_since  INTEGER,
    PRIMARY KEY (event, name)
) STRICT;

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

-- Comments and variations of the records that games were imported from.
CREATE TABLE comments (
    event  INTEGER NOT NULL REFERENCES events (id),
    number INTEGER NOT NULL,
    line   INTEGER NOT NULL,
    ply    INTEGER NOT NULL,
    text   TEXT    NOT NULL,
    PRIMARY KEY (event, number, line, ply)
) STRICT, WITHOUT ROWID;

CREATE TABLE variations (
    event   INTEGER NOT NULL REFERENCES events (id),
    number  INTEGER NOT NULL,
    line    INTEGER NOT NULL,
    parent  INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    moves   TEXT    NOT NULL,
    details TEXT,
    PRIMARY KEY (event, number, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE opening_times (
    event      INTEGER NOT NULL REFERENCES events (id),
    number     INTEGER NOT NULL,
    ply        INTEGER NOT NULL,
    charged_ms INTEGER NOT NULL,
    PRIMARY KEY (event, number, ply)
) STRICT, WITHOUT ROWID;

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

-- A partial index: a resumed event finds its running games at once among a million.
CREATE INDEX games_running ON games (event) WHERE ended_at IS NULL;

CREATE INDEX game_names_by_name ON game_names (name);

CREATE INDEX open_leases ON leases (event, id) WHERE committed_at IS NULL;

CREATE INDEX repeats_of_event ON repeats (event);

-- The number of games that count.
CREATE INDEX games_counted ON games (event) WHERE state = 'counted';

-- Games that a player lost by a fault. The condition is `LOST_BY_FAULT` in `read.rs`, word for word.
CREATE INDEX games_of_faults ON games (event, number) WHERE
(cause IN ('time', 'disconnection', 'default', 'illegal-action', 'illegal-declaration') OR cause GLOB 'illegal-move:*');

-- One row for each player of each game that counts.
CREATE VIEW scores AS
SELECT event, id AS game, number, stage, round, black AS player, white AS opponent, 'black' AS color,
       CASE result WHEN 'black' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END AS half_points
FROM games WHERE result <> 'aborted' AND NOT replayed
UNION ALL
SELECT event, id, number, stage, round, white, black, 'white',
       CASE result WHEN 'white' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END
FROM games WHERE result <> 'aborted' AND NOT replayed;

CREATE VIEW head_to_head AS
SELECT e.name AS event, p.name AS player, o.name AS opponent,
       count(*) AS games,
       count(*) FILTER (WHERE s.half_points = 2) AS wins,
       count(*) FILTER (WHERE s.half_points = 0) AS losses,
       count(*) FILTER (WHERE s.half_points = 1) AS draws,
       round(50.0 * sum(s.half_points) / count(*), 1) AS score_percent,
       s.event AS event_id, s.player AS player_id, s.opponent AS opponent_id
FROM scores s
JOIN events e ON e.id = s.event
JOIN players p ON p.event = s.event AND p.player = s.player
JOIN players o ON o.event = s.event AND o.player = s.opponent
GROUP BY s.event, s.player, s.opponent;

CREATE VIEW endings AS
SELECT e.name AS event, iif(g.result IN ('black', 'white'), 'win', g.result) AS result, g.cause,
       count(*) AS games,
       count(*) FILTER (WHERE g.winner = 'black') AS black_wins,
       count(*) FILTER (WHERE g.winner = 'white') AS white_wins,
       round(avg(g.plies), 1) AS mean_plies,
       g.event AS event_id
FROM games g
JOIN events e ON e.id = g.event
WHERE g.result IS NOT NULL
GROUP BY g.event, 2, g.cause
ORDER BY g.event, games DESC;

CREATE VIEW slowest_moves AS
SELECT event, number, game, ply, player, move, elapsed_ms, engine_ms, latency_ms, left_ms, event_id
FROM move_list
ORDER BY elapsed_ms DESC;

-- Nearest-rank percentiles of measured minus engine-reported time, by player.
CREATE VIEW latencies AS
SELECT event, player,
       max(of) AS moves,
       min(latency_ms) FILTER (WHERE rank * 100 >= of * 50) AS p50_ms,
       min(latency_ms) FILTER (WHERE rank * 100 >= of * 90) AS p90_ms,
       min(latency_ms) FILTER (WHERE rank * 100 >= of * 99) AS p99_ms,
       max(latency_ms) AS max_ms,
       event_id
FROM (
    SELECT event, player, event_id, latency_ms,
           row_number() OVER (PARTITION BY event_id, player ORDER BY latency_ms) AS rank,
           count(*) OVER (PARTITION BY event_id, player) AS of
    FROM move_list WHERE latency_ms IS NOT NULL
)
GROUP BY event_id, player;

CREATE VIEW standings AS
SELECT e.name AS event, p.name AS player,
       count(s.game) AS games,
       count(*) FILTER (WHERE s.half_points = 2) AS wins,
       count(*) FILTER (WHERE s.half_points = 0) AS losses,
       count(*) FILTER (WHERE s.half_points = 1) AS draws,
       coalesce(sum(s.half_points), 0) / 2.0 AS points,
       coalesce((SELECT sum(b.half_points) FROM byes b WHERE b.event = p.event AND b.player = p.player), 0) / 2.0
           AS bye_points,
       round(50.0 * sum(s.half_points) / count(s.game), 1) AS score_percent,
       (SELECT round(r.rate, 1) FROM ratings r WHERE r.event = p.event AND r.player = p.player) AS rating,
       (SELECT round(r.error, 1) FROM ratings r WHERE r.event = p.event AND r.player = p.player) AS rating_error,
       p.event AS event_id, p.player AS player_id
FROM players p
JOIN events e ON e.id = p.event
LEFT JOIN scores s ON s.event = p.event AND s.player = p.player
GROUP BY p.event, p.player
ORDER BY p.event, points + bye_points DESC, score_percent DESC, p.player;

CREATE VIEW game_list AS
SELECT g.id AS game, e.name AS event, g.number, g.stage, g.round, b.name AS black, w.name AS white,
       CASE
           WHEN g.result = 'black'    THEN b.name || ' wins by ' || g.cause
           WHEN g.result = 'white'    THEN w.name || ' wins by ' || g.cause
           WHEN g.result = 'draw'     THEN 'draw by ' || g.cause || iif(g.replayed, ', played again', '')
           WHEN g.cause = 'no-result' THEN 'no result'
           WHEN g.result = 'aborted'  THEN 'not counted: ' || g.cause
           ELSE 'running'
       END AS result_in_words,
       g.result, g.cause, g.state, g.plies,
       strftime('%Y-%m-%d %H:%M:%f', g.started_at / 1000.0, 'unixepoch') AS started,
       iif(g.started_at IS NULL AND g.start IS NOT NULL, NULL,
           strftime('%Y-%m-%d %H:%M:%f', g.ended_at / 1000.0, 'unixepoch')) AS ended,
       (g.ended_at - g.started_at) / 1000.0 AS seconds,
       g.attempt, g.start, g.opening_moves, g.evidence, g.event AS event_id
FROM games g
JOIN events e ON e.id = g.event
JOIN players b ON b.event = g.event AND b.player = g.black
JOIN players w ON w.event = g.event AND w.player = g.white;

CREATE VIEW move_list AS
SELECT m.game, e.name AS event, g.number, m.ply, iif(m.color, 'white', 'black') AS color, p.name AS player, m.move,
       m.charged_ms, m.elapsed_us / 1000.0 AS elapsed_ms, m.engine_ms,
       m.elapsed_us / 1000.0 - m.engine_ms AS latency_ms,
       m.left_ms, m.depth, m.seldepth,
       CASE
           WHEN m.mate IS NOT NULL THEN 'mate ' || CASE m.mate
               WHEN 2147483647 THEN '+' WHEN -2147483647 THEN '-' ELSE m.mate END
           ELSE CAST(m.score_cp AS TEXT)
       END AS score,
       m.score_cp, m.mate, m.nodes, m.nps, m.pv,
       iif(g.started_at IS NULL, NULL, strftime('%Y-%m-%d %H:%M:%f', m.at / 1000.0, 'unixepoch')) AS made,
       g.event AS event_id
FROM moves m
JOIN games g ON g.id = m.game
JOIN events e ON e.id = g.event
JOIN players p ON p.event = g.event AND p.player = iif(m.color, g.white, g.black);
