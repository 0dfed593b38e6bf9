/** Requests that pass without a limit while a replica of the service fails, by Envoy's settings. */
@NullMarked
package io.throttlekit.bench.failover;

import org.jspecify.annotations.NullMarked;
