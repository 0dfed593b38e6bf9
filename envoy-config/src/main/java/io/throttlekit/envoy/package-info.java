/** Envoy's side: node ids, and bootstraps that show how to connect Envoy to the service. */
@NullMarked
package io.throttlekit.envoy;

import org.jspecify.annotations.NullMarked;
