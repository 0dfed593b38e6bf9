/** The engine's stores and coordinator in PostgreSQL. */
@NullMarked
package io.throttlekit.postgres;

import org.jspecify.annotations.NullMarked;
