@NullMarked
package io.throttlekit.envoy.ceiling;

import org.jspecify.annotations.NullMarked;
