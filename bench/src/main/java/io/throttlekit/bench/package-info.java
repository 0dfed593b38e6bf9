/** The programs of {@code bin/bench} that need no package of their own. */
@NullMarked
package io.throttlekit.bench;

import org.jspecify.annotations.NullMarked;
