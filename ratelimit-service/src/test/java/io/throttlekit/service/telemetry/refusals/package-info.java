@NullMarked
package io.throttlekit.service.telemetry.refusals;

import org.jspecify.annotations.NullMarked;
