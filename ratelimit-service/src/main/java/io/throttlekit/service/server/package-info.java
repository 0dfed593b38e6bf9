/** The gRPC listener: transport, TLS, the rate-limit service, health, reflection and draining. */
@NullMarked
package io.throttlekit.service.server;

import org.jspecify.annotations.NullMarked;
