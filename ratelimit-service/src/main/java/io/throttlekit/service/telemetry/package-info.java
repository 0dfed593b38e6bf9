/**
 * Metrics under envoyproxy/ratelimit's names and our own, traces, and how both leave the process.
 */
@NullMarked
package io.throttlekit.service.telemetry;

import org.jspecify.annotations.NullMarked;
