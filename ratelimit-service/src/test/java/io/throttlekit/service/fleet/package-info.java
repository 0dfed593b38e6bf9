/** Several processes of the service on one Redis. */
@NullMarked
package io.throttlekit.service.fleet;

import org.jspecify.annotations.NullMarked;
