/** A lookup table for recent keys, faster than the cache behind it. */
@NullMarked
package io.throttlekit.recent;

import org.jspecify.annotations.NullMarked;
