/** Records that the processes of one store share, and change in atomic steps. */
@NullMarked
package io.throttlekit.record;

import org.jspecify.annotations.NullMarked;
