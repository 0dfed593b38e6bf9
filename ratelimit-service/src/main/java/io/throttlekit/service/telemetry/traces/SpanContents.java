package io.throttlekit.service.telemetry.traces;

/**
 * What the spans of decisions contain.
 *
 * @param values how they name the values of requests
 * @param limits states of the concurrency limits that decide
 * @param cachedDenyDefault whether rules that name no tier cache refusals
 */
public record SpanContents(TracedValues values, SharedLimits limits, boolean cachedDenyDefault) {}
