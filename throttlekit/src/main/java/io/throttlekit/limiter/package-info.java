/** Limiters that admit requests below a concurrency limit, with queues and priorities. */
@NullMarked
package io.throttlekit.limiter;

import org.jspecify.annotations.NullMarked;
