/** How much may be in flight. */
@NullMarked
package io.throttlekit.concurrency;

import org.jspecify.annotations.NullMarked;
