@NullMarked
package io.throttlekit.demo;

import org.jspecify.annotations.NullMarked;
