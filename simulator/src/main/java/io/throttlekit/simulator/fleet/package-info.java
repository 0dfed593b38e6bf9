/**
 * Fleets in front of the backend of {@link io.throttlekit.simulator.concurrency}: nodes that divide
 * one concurrency limit through a coordinator, beside one process with the same algorithm.
 */
@NullMarked
package io.throttlekit.simulator.fleet;

import org.jspecify.annotations.NullMarked;
