-- The clocks of games whose plan does not know them.

ALTER TABLE games ADD COLUMN times TEXT;
