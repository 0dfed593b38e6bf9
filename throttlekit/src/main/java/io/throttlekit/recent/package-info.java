/** What was asked for lately, found faster than a cache finds it. */
@NullMarked
package io.throttlekit.recent;

import org.jspecify.annotations.NullMarked;
