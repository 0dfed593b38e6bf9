/** Mappings of the Prometheus statsd exporter, applied to statistics with names for statsd. */
@NullMarked
package io.throttlekit.service.telemetry.mapping;

import org.jspecify.annotations.NullMarked;
