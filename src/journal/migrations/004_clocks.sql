-- Time controls of games whose plan does not have them.

ALTER TABLE games ADD COLUMN times TEXT;
