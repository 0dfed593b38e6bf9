/** Ceilings of concurrency for Envoys, which they read as runtime values over xDS. */
@NullMarked
package io.throttlekit.envoy.ceiling;

import org.jspecify.annotations.NullMarked;
