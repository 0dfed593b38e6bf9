/** The processes of three regions and their stores, and the counters in them. */
@NullMarked
package io.throttlekit.bench.chaos.fleet;

import org.jspecify.annotations.NullMarked;
