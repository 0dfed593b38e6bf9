@NullMarked
package io.throttlekit.bench.chaos;

import org.jspecify.annotations.NullMarked;
