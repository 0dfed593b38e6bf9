@NullMarked
package io.throttlekit.bench.load;

import org.jspecify.annotations.NullMarked;
