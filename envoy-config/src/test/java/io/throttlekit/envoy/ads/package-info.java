@NullMarked
package io.throttlekit.envoy.ads;

import org.jspecify.annotations.NullMarked;
