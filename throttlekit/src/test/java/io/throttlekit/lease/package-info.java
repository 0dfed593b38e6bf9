@NullMarked
package io.throttlekit.lease;

import org.jspecify.annotations.NullMarked;
