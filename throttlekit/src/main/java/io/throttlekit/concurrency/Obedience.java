package io.throttlekit.concurrency;

/**
 * How far the gates of one ceiling are known to obey it.
 *
 * @param present gates that are there
 * @param unacknowledged of these, that have not said that they obey what they were granted last
 * @param heldBack requests that nobody can be granted, because a gate that left may be obeying
 *     them, or one that was granted less and has not acknowledged it
 */
public record Obedience(int present, int unacknowledged, long heldBack) {}
