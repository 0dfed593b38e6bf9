/** Reads Envoy's access logs as they come over gRPC: ALS v3. */
@NullMarked
package io.throttlekit.service.accesslog;

import org.jspecify.annotations.NullMarked;
