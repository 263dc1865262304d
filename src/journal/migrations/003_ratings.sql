-- Latest rating estimates of a league.

CREATE TABLE ratings (
    event  INTEGER NOT NULL REFERENCES events (id),
    player INTEGER NOT NULL,
    rate   REAL    NOT NULL,
    error  REAL,
    games  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (event, player)
) STRICT, WITHOUT ROWID;

DROP VIEW standings;

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
