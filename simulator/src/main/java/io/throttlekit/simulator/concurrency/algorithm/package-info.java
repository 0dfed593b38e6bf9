/** The limit algorithms that are compared: ours, those of other projects, and a constant. */
@NullMarked
package io.throttlekit.simulator.concurrency.algorithm;

import org.jspecify.annotations.NullMarked;
