-- The terms of a region's last request, if it was refused because other regions have other terms.
ALTER TABLE agreements ADD COLUMN asked bigint[];
