@NullMarked
package io.throttlekit.demo.overload;

import org.jspecify.annotations.NullMarked;
