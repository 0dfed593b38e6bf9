package io.throttlekit.once;

import io.throttlekit.TimeSource;
import io.throttlekit.Timer;

/**
 * A clock and a scheduler.
 *
 * @param time source of monotonic time
 */
public record Clocks(TimeSource time, Timer timer) {}
