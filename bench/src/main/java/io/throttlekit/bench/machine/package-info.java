/** Resources that programs use of this (Linux) machine, from {@code /proc}. */
@NullMarked
package io.throttlekit.bench.machine;

import org.jspecify.annotations.NullMarked;
