/** What programs use of this (Linux) machine, by {@code /proc}. */
@NullMarked
package io.throttlekit.bench.machine;

import org.jspecify.annotations.NullMarked;
