-- What the person wrote when they voted, on one line.
ALTER TABLE votes ADD COLUMN why TEXT;
