-- What people say of a test of the queue, who added it, and who let it be played.
ALTER TABLE queued_tests ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE queued_tests ADD COLUMN added_by TEXT;
ALTER TABLE queued_tests ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queued_tests ADD COLUMN approved_by TEXT;
ALTER TABLE queued_tests ADD COLUMN approved_at INTEGER;
