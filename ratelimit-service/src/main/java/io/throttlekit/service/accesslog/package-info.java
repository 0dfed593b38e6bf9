/** Receives Envoy's access logs over gRPC (ALS v3). */
@NullMarked
package io.throttlekit.service.accesslog;

import org.jspecify.annotations.NullMarked;
