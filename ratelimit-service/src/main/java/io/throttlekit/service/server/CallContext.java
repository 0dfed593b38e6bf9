package io.throttlekit.service.server;

import io.throttlekit.TimeSource;
import io.throttlekit.service.rls.FrontEnd;
import io.throttlekit.service.telemetry.CallMetrics;

/**
 * The collaborators shared by all calls of one gRPC method. Thread-safe.
 *
 * @param frontEnd reads, decides and answers requests
 * @param metrics counts requests
 * @param time measures latencies; the same clock as that of the event loops
 * @param warnings logs calls that came too late for their callers, and those that failed
 */
record CallContext(
    FrontEnd frontEnd, CallMetrics metrics, TimeSource time, CallWarnings warnings) {}
