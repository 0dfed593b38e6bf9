@NullMarked
package io.throttlekit.steering;

import org.jspecify.annotations.NullMarked;
