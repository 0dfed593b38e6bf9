/** Concurrency limits for Envoys, which read them as runtime values over xDS. */
@NullMarked
package io.throttlekit.envoy.xds;

import org.jspecify.annotations.NullMarked;
