@NullMarked
package io.throttlekit.descriptors.source;

import org.jspecify.annotations.NullMarked;
