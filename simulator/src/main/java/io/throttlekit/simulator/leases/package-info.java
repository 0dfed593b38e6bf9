/**
 * Sizes of leases: the published evaluation of GALE's sizers, re-created from its formulas, and
 * ours on the same seeded workloads.
 */
@NullMarked
package io.throttlekit.simulator.leases;

import org.jspecify.annotations.NullMarked;
