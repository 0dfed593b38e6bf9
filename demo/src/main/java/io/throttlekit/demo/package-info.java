/** The demos of {@code bin/demo}: the service, a real Envoy, an upstream, and traffic to watch. */
@NullMarked
package io.throttlekit.demo;

import org.jspecify.annotations.NullMarked;
