@NullMarked
package io.throttlekit.simulator.leases;

import org.jspecify.annotations.NullMarked;
