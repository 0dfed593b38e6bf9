/** Where counters live. */
@NullMarked
package io.throttlekit.store;

import org.jspecify.annotations.NullMarked;
