-- Returns the clock, and the epoch if data were lost.
--
-- Reply: now.
return {told, now}
