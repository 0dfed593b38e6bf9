@NullMarked
package io.throttlekit.service.telemetry.policies;

import org.jspecify.annotations.NullMarked;
