/** Concurrency limits for Envoys, which read them as runtime values over xDS. */
@NullMarked
package io.throttlekit.envoy.ceiling;

import org.jspecify.annotations.NullMarked;
