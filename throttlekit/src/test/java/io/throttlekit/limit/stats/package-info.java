@NullMarked
package io.throttlekit.limit.stats;

import org.jspecify.annotations.NullMarked;
