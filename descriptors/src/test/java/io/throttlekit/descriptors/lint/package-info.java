@NullMarked
package io.throttlekit.descriptors.lint;

import org.jspecify.annotations.NullMarked;
