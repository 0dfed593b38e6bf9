/**
 * Calls that take effect once, however often they are sent and however late their responses arrive.
 */
@NullMarked
package io.throttlekit.once;

import org.jspecify.annotations.NullMarked;
