/** Releases of permits on their way to other processes: the origin of an id, and the order. */
@NullMarked
package io.throttlekit.service.concurrency.release;

import org.jspecify.annotations.NullMarked;
