/**
 * The service behind a real Envoy: HTTP requests go in, and only what a client sees is asserted.
 */
@NullMarked
package io.throttlekit.service.envoy;

import org.jspecify.annotations.NullMarked;
