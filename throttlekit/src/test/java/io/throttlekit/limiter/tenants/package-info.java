@NullMarked
package io.throttlekit.limiter.tenants;

import org.jspecify.annotations.NullMarked;
