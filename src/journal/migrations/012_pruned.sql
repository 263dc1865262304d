-- Games whose moves and lines were dropped. The columns are documented in SCHEMA.md.

ALTER TABLE games ADD COLUMN pruned_at INTEGER;
