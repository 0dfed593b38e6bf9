@NullMarked
package io.throttlekit.bench.command;

import org.jspecify.annotations.NullMarked;
