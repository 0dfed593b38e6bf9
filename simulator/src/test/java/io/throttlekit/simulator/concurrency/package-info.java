@NullMarked
package io.throttlekit.simulator.concurrency;

import org.jspecify.annotations.NullMarked;
