package io.throttlekit.service.server;

import io.throttlekit.TimeSource;
import io.throttlekit.service.rls.FrontEnd;
import io.throttlekit.service.telemetry.CallMetrics;

/**
 * What the calls of one method have in common. Thread-safe.
 *
 * @param frontEnd reads, decides and answers them
 * @param metrics counts them
 * @param time how long they take; the same as that of the event loops
 * @param warnings logs calls that came too late for their callers, and those that failed
 */
record Deciding(FrontEnd frontEnd, CallMetrics metrics, TimeSource time, CallWarnings warnings) {}
