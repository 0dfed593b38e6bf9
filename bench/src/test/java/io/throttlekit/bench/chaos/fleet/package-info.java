@NullMarked
package io.throttlekit.bench.chaos.fleet;

import org.jspecify.annotations.NullMarked;
