/** The store that this process shares with others, as it is configured. */
@NullMarked
package io.throttlekit.service.store;

import org.jspecify.annotations.NullMarked;
