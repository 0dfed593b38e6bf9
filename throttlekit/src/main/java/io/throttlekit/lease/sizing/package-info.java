/** How many units a lease requests. */
@NullMarked
package io.throttlekit.lease.sizing;

import org.jspecify.annotations.NullMarked;
