/** The counter store, the coordinator and the escrow on Redis. */
@NullMarked
package io.throttlekit.redis;

import org.jspecify.annotations.NullMarked;
