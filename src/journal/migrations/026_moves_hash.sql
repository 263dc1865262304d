-- What the start and the moves of a game make together (`moves_hash` in `src/referee/distinct.rs`); NULL where there are none to
-- compare. Games with the same players, colours and ending that have it in common are one game played again.
ALTER TABLE games ADD COLUMN moves_hash INTEGER;
