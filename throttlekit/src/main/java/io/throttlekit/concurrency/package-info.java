/** Adaptive concurrency limits: algorithms that compute a limit, and limiters that apply it. */
@NullMarked
package io.throttlekit.concurrency;

import org.jspecify.annotations.NullMarked;
