@NullMarked
package io.throttlekit.service.telemetry.mapping;

import org.jspecify.annotations.NullMarked;
