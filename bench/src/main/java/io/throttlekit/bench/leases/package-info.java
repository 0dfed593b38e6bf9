/**
 * How many units a lease should ask for: the published evaluation of GALE's sizers re-created from
 * its formulas, and ours on the same seeded workloads.
 */
@NullMarked
package io.throttlekit.bench.leases;

import org.jspecify.annotations.NullMarked;
