@NullMarked
package io.throttlekit.simulator.fleet;

import org.jspecify.annotations.NullMarked;
