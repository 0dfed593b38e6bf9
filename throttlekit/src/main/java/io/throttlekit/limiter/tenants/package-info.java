/** Concurrency limits that tenants share by weight. */
@NullMarked
package io.throttlekit.limiter.tenants;

import org.jspecify.annotations.NullMarked;
