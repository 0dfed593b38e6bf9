/** Exports of metrics and spans to a collector. */
@NullMarked
package io.throttlekit.service.telemetry.otlp;

import org.jspecify.annotations.NullMarked;
