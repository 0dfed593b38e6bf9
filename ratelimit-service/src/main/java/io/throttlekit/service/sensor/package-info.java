/** What Envoys say of the requests that they sent to backends, whichever way they say it. */
@NullMarked
package io.throttlekit.service.sensor;

import org.jspecify.annotations.NullMarked;
