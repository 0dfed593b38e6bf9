@NullMarked
package io.throttlekit.envoy.xds;

import org.jspecify.annotations.NullMarked;
