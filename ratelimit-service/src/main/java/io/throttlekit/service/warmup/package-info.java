/** Makes the JVM compile the path of a request before the first real one arrives. */
@NullMarked
package io.throttlekit.service.warmup;

import org.jspecify.annotations.NullMarked;
