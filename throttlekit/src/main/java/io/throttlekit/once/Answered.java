package io.throttlekit.once;

/**
 * An answer, and when the attempt began that it answers.
 *
 * @param askedNanos by the monotonic clock; the callee acted after it
 */
public record Answered<T>(T value, long askedNanos) {}
