@NullMarked
package io.throttlekit.envoy.filter;

import org.jspecify.annotations.NullMarked;
