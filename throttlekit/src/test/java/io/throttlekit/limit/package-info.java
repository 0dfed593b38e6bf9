@NullMarked
package io.throttlekit.limit;

import org.jspecify.annotations.NullMarked;
