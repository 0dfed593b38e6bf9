@NullMarked
package io.throttlekit.limiter;

import org.jspecify.annotations.NullMarked;
