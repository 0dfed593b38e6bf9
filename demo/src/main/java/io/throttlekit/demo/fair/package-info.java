/** The tenants of {@code bin/demo --fair}, which share one limit behind a real Envoy. */
@NullMarked
package io.throttlekit.demo.fair;

import org.jspecify.annotations.NullMarked;
