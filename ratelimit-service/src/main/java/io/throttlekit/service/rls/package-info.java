/** Envoy's rate-limit protocol: between its messages and what admission speaks. */
@NullMarked
package io.throttlekit.service.rls;

import org.jspecify.annotations.NullMarked;
