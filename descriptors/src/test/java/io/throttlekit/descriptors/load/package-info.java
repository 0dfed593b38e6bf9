@NullMarked
package io.throttlekit.descriptors.load;

import org.jspecify.annotations.NullMarked;
