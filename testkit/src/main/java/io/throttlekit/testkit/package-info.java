/** Counts and checks that tests, demo and benchmarks share. */
@NullMarked
package io.throttlekit.testkit;

import org.jspecify.annotations.NullMarked;
