/** Has the virtual machine compile the way of a request before the first one that counts. */
@NullMarked
package io.throttlekit.service.warmup;

import org.jspecify.annotations.NullMarked;
