/** Identities of the clients of the sensors' listener, from their certificates. */
@NullMarked
package io.throttlekit.service.identity;

import org.jspecify.annotations.NullMarked;
