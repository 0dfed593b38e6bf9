/** Releases of permits on their way to other processes: who gave an id, and which go first. */
@NullMarked
package io.throttlekit.service.concurrency.release;

import org.jspecify.annotations.NullMarked;
