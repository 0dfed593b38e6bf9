@NullMarked
package io.throttlekit.service.telemetry.fairness;

import org.jspecify.annotations.NullMarked;
