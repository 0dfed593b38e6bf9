@NullMarked
package io.throttlekit.lease.sizing;

import org.jspecify.annotations.NullMarked;
