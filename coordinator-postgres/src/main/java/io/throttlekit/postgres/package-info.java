/** The counter store, the coordinator and the escrow on PostgreSQL. */
@NullMarked
package io.throttlekit.postgres;

import org.jspecify.annotations.NullMarked;
