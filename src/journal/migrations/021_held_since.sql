-- Since when a machine has had its oldest pair, in ms since 1970-01-01 UTC; NULL: it has none. A machine that has pairs for
-- long and brings none back is seen by it.
ALTER TABLE machines ADD COLUMN held_since INTEGER;
