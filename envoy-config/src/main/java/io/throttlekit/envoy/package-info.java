/** Envoy's side: node ids, and example bootstraps among the resources. */
@NullMarked
package io.throttlekit.envoy;

import org.jspecify.annotations.NullMarked;
