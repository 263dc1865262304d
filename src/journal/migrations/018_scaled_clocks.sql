-- Clocks of machines that are not equally fast.

-- The speed that all machines of the event are compared with, as JSON.
ALTER TABLE fleets ADD COLUMN reference TEXT;

-- By how much the clocks of the machine are longer than those of the plan, in thousandths.
ALTER TABLE leases ADD COLUMN clock_scale INTEGER NOT NULL DEFAULT 1000;

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
    PRIMARY KEY (event, name)
) STRICT;
