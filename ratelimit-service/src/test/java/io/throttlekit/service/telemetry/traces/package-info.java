@NullMarked
package io.throttlekit.service.telemetry.traces;

import org.jspecify.annotations.NullMarked;
