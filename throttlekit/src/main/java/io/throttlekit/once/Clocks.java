package io.throttlekit.once;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;

/**
 * A clock and a scheduler.
 *
 * @param time source of monotonic time
 */
public record Clocks(TimeSource time, Scheduler timer) {}
