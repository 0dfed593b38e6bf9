/** The engine's counter store on Redis. */
@NullMarked
package io.throttlekit.redis;

import org.jspecify.annotations.NullMarked;
