@NullMarked
package io.throttlekit.demo.load;

import org.jspecify.annotations.NullMarked;
