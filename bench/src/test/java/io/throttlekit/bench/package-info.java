@NullMarked
package io.throttlekit.bench;

import org.jspecify.annotations.NullMarked;
