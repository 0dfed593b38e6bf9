/** Statistics under envoyproxy/ratelimit's names for statsd, and their way to a statsd server. */
@NullMarked
package io.throttlekit.service.telemetry.statsd;

import org.jspecify.annotations.NullMarked;
