/** Who the clients of the sensors' listener are, by their certificates. */
@NullMarked
package io.throttlekit.service.identity;

import org.jspecify.annotations.NullMarked;
