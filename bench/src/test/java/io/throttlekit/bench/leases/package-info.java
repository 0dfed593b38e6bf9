@NullMarked
package io.throttlekit.bench.leases;

import org.jspecify.annotations.NullMarked;
