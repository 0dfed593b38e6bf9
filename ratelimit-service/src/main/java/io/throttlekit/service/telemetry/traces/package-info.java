/** Spans of the calls that a traced decision makes. */
@NullMarked
package io.throttlekit.service.telemetry.traces;

import org.jspecify.annotations.NullMarked;
