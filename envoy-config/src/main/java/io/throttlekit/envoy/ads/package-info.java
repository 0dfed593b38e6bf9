/**
 * Client of a control plane: a subscription to all resources of one type over the aggregated
 * discovery service (ADS), in its state-of-the-world form. Knows nothing of the resources.
 */
@NullMarked
package io.throttlekit.envoy.ads;

import org.jspecify.annotations.NullMarked;
