/**
 * The overload of {@code bin/demo --overload} and {@code bin/bench overload}: an upstream with a
 * fixed capacity, behind real Envoys with and without limits on the requests in flight.
 */
@NullMarked
package io.throttlekit.demo.overload;

import org.jspecify.annotations.NullMarked;
