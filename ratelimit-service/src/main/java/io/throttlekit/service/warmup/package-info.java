/** Warm-up: has the JVM compile the path of a request before the first real one. */
@NullMarked
package io.throttlekit.service.warmup;

import org.jspecify.annotations.NullMarked;
