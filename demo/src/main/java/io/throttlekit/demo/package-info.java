/** What {@code bin/demo} runs: the service, a real Envoy, an upstream, and traffic to look at. */
@NullMarked
package io.throttlekit.demo;

import org.jspecify.annotations.NullMarked;
