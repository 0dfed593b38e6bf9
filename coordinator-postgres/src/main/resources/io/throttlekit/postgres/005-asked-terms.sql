-- What a region asked for last, where it was refused it because other regions stand by other terms.
ALTER TABLE agreements ADD COLUMN asked bigint[];
