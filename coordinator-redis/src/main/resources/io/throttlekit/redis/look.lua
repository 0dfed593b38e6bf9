-- Looks at the clock, and whether data were lost.
--
-- Reply: now.
return {told, now}
