/** HTTP endpoints of the service: decisions as JSON, health, metrics and diagnosis. */
@NullMarked
package io.throttlekit.service.http;

import org.jspecify.annotations.NullMarked;
