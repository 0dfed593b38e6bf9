@NullMarked
package io.throttlekit.bench.concurrency;

import org.jspecify.annotations.NullMarked;
