/** Bounds what clients can cause to be logged. */
@NullMarked
package io.throttlekit.service.log;

import org.jspecify.annotations.NullMarked;
