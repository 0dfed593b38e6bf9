/** Closed-loop and open-loop load over loopback connections, and its latencies. */
@NullMarked
package io.throttlekit.bench.load;

import org.jspecify.annotations.NullMarked;
