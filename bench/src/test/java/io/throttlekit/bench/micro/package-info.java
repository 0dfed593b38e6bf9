@NullMarked
package io.throttlekit.bench.micro;

import org.jspecify.annotations.NullMarked;
