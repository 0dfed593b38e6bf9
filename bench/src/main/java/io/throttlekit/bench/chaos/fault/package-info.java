/** The faults, and the stage on which they act. */
@NullMarked
package io.throttlekit.bench.chaos.fault;

import org.jspecify.annotations.NullMarked;
