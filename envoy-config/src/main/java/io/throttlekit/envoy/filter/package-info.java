/** Configuration of Envoy's rate limit filter, derived from policies: as text and as a resource. */
@NullMarked
package io.throttlekit.envoy.filter;

import org.jspecify.annotations.NullMarked;
