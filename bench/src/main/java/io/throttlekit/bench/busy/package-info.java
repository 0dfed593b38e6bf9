/** What becomes of a service that is asked for more than it can decide. */
@NullMarked
package io.throttlekit.bench.busy;

import org.jspecify.annotations.NullMarked;
