package io.throttlekit.steering;

/**
 * How far the limiters of one concurrency limit have acknowledged their shares.
 *
 * @param present connected limiters
 * @param unacknowledged connected limiters that have not acknowledged their last grant
 * @param heldBack requests that cannot be granted yet, because a limiter that left may still admit
 *     them, or one with a smaller grant has not acknowledged it
 */
public record Acknowledgements(int present, int unacknowledged, long heldBack) {}
