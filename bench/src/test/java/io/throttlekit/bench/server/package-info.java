@NullMarked
package io.throttlekit.bench.server;

import org.jspecify.annotations.NullMarked;
