/** The processes under load: the service, and a server that decides nothing. */
@NullMarked
package io.throttlekit.bench.server;

import org.jspecify.annotations.NullMarked;
