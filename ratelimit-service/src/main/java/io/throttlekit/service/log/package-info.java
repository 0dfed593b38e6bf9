/** Bounds the log lines that clients can cause. */
@NullMarked
package io.throttlekit.service.log;

import org.jspecify.annotations.NullMarked;
