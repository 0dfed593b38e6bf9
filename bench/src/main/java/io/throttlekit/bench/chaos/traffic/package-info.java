/** The load on the fleet, what was admitted and what failed. */
@NullMarked
package io.throttlekit.bench.chaos.traffic;

import org.jspecify.annotations.NullMarked;
