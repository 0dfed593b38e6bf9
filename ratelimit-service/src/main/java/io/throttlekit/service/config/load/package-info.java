/**
 * Readers of the configuration: file, flags, and the environments of this service and of
 * envoyproxy/ratelimit.
 */
@NullMarked
package io.throttlekit.service.config.load;

import org.jspecify.annotations.NullMarked;
