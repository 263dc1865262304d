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

-- A game that began has no `started_at` when its date is unknown; its other times are placeholders then.
DROP VIEW game_list;
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

DROP VIEW move_list;
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
