@NullMarked
package io.throttlekit.bench.failover;

import org.jspecify.annotations.NullMarked;
