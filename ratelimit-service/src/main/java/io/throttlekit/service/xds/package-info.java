/** Policies that a control plane such as Envoy Gateway sends over xDS. */
@NullMarked
package io.throttlekit.service.xds;

import org.jspecify.annotations.NullMarked;
