/** Counter stores, and counters in this process's memory. */
@NullMarked
package io.throttlekit.store;

import org.jspecify.annotations.NullMarked;
