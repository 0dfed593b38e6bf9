/**
 * How well a law infers what a backend takes: a simulation of load, gate and backend in virtual
 * time, every law on the same requests, the same figures from the same seed on every machine.
 */
@NullMarked
package io.throttlekit.simulator.concurrency;

import org.jspecify.annotations.NullMarked;
