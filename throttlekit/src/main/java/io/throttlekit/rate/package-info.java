/** Rate-limit algorithms as pure functions of (state, now, cost). */
@NullMarked
package io.throttlekit.rate;

import org.jspecify.annotations.NullMarked;
