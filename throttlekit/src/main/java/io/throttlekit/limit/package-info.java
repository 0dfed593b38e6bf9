/** Algorithms that compute a concurrency limit from the latencies and outcomes of requests. */
@NullMarked
package io.throttlekit.limit;

import org.jspecify.annotations.NullMarked;
