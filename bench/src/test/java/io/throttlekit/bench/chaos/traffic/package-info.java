@NullMarked
package io.throttlekit.bench.chaos.traffic;

import org.jspecify.annotations.NullMarked;
