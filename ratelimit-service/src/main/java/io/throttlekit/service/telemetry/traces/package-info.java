/** Spans of decisions, and of the calls that they make. */
@NullMarked
package io.throttlekit.service.telemetry.traces;

import org.jspecify.annotations.NullMarked;
