/** Ports, proxies and certificates on the loopback interface. */
@NullMarked
package io.throttlekit.testkit.net;

import org.jspecify.annotations.NullMarked;
