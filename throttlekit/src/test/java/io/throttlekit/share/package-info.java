@NullMarked
package io.throttlekit.share;

import org.jspecify.annotations.NullMarked;
