/**
 * The Envoy side: the program itself, what it calls itself, and bootstraps that show how to point
 * it at the service.
 */
@NullMarked
package io.throttlekit.envoy;

import org.jspecify.annotations.NullMarked;
