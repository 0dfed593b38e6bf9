@NullMarked
package io.throttlekit.envoy;

import org.jspecify.annotations.NullMarked;
