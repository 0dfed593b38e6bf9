/**
 * A simulation of load, limiter and backend in virtual time, which measures how well limit
 * algorithms infer the capacity of a backend. All algorithms receive the same requests, and results
 * depend only on the seed, on every machine.
 */
@NullMarked
package io.throttlekit.simulator.concurrency;

import org.jspecify.annotations.NullMarked;
