/** A real Redis, started and stopped by a test. */
@NullMarked
package io.throttlekit.testkit.redis;

import org.jspecify.annotations.NullMarked;
