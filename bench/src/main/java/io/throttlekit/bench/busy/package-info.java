/** Behaviour of a service under more load than it can decide. */
@NullMarked
package io.throttlekit.bench.busy;

import org.jspecify.annotations.NullMarked;
