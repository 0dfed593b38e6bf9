@NullMarked
package io.throttlekit.demo.fleet;

import org.jspecify.annotations.NullMarked;
