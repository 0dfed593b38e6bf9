/** Ports of the loopback interface that servers of tests listen on more than once. */
@NullMarked
package io.throttlekit.ports;

import org.jspecify.annotations.NullMarked;
