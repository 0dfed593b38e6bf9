/** A real PostgreSQL, started and stopped by a test. */
@NullMarked
package io.throttlekit.testkit.postgres;

import org.jspecify.annotations.NullMarked;
