/** A real Envoy: found or fetched, started and stopped. */
@NullMarked
package io.throttlekit.testkit.envoy;

import org.jspecify.annotations.NullMarked;
