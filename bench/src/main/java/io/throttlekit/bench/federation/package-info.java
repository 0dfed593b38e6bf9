/** Regions under uneven demand, and the shares that they get. */
@NullMarked
package io.throttlekit.bench.federation;

import org.jspecify.annotations.NullMarked;
