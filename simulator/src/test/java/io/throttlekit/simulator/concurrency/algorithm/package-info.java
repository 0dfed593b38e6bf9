@NullMarked
package io.throttlekit.simulator.concurrency.algorithm;

import org.jspecify.annotations.NullMarked;
