package io.throttlekit.once;

/**
 * A response, with the start time of the attempt that it answers.
 *
 * @param sentNanos start of the attempt, monotonic; the store acted later than this
 */
public record Answered<T>(T value, long sentNanos) {}
