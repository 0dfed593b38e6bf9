/** Metrics under envoyproxy/ratelimit's names and our own, traces, and their export. */
@NullMarked
package io.throttlekit.service.telemetry;

import org.jspecify.annotations.NullMarked;
