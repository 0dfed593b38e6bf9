/** Tenants that share one limit, in virtual time: who is admitted, and who is starved. */
@NullMarked
package io.throttlekit.simulator.fairness;

import org.jspecify.annotations.NullMarked;
