/** Tests of the simulation of tenants that share one limit. */
@NullMarked
package io.throttlekit.simulator.fairness;

import org.jspecify.annotations.NullMarked;
