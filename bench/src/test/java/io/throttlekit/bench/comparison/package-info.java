@NullMarked
package io.throttlekit.bench.comparison;

import org.jspecify.annotations.NullMarked;
