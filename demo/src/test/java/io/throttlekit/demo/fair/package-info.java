@NullMarked
package io.throttlekit.demo.fair;

import org.jspecify.annotations.NullMarked;
