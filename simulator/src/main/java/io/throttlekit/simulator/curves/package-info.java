/** Drawings of simulations for the documents. */
@NullMarked
package io.throttlekit.simulator.curves;

import org.jspecify.annotations.NullMarked;
