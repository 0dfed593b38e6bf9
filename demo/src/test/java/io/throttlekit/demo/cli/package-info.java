@NullMarked
package io.throttlekit.demo.cli;

import org.jspecify.annotations.NullMarked;
