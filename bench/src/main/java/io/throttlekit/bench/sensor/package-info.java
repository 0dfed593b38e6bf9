/** Load of access-log streams. */
@NullMarked
package io.throttlekit.bench.sensor;

import org.jspecify.annotations.NullMarked;
