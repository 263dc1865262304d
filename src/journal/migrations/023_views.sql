-- Indexes for reports and pages of events with a million games.

-- The number of games that count.
CREATE INDEX games_counted ON games (event) WHERE state = 'counted';

-- Games that a player lost by a fault. The condition is `LOST_BY_FAULT` in `read.rs`, word for word.
CREATE INDEX games_of_faults ON games (event, number) WHERE
(cause IN ('time', 'disconnection', 'default', 'illegal-action', 'illegal-declaration') OR cause GLOB 'illegal-move:*');
