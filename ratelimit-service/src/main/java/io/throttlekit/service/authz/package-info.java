/** Envoy's external authorization: requests in, checked and described; answers out. */
@NullMarked
package io.throttlekit.service.authz;

import org.jspecify.annotations.NullMarked;
