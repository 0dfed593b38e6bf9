@NullMarked
package io.throttlekit.service.telemetry.statsd;

import org.jspecify.annotations.NullMarked;
