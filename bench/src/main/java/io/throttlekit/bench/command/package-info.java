/** The command line of a benchmark: its arguments, bounds and targets. */
@NullMarked
package io.throttlekit.bench.command;

import org.jspecify.annotations.NullMarked;
