/** Which keys are refused: a bounded sample for the debug page and the log. */
@NullMarked
package io.throttlekit.service.telemetry.refusals;

import org.jspecify.annotations.NullMarked;
