/** A minimal HTTP/2 client, with which the service warms itself up. */
@NullMarked
package io.throttlekit.http2;

import org.jspecify.annotations.NullMarked;
