-- Returns the clock, and the epoch if data were lost.
--
-- Reply: now.
return {new_epoch, now}
