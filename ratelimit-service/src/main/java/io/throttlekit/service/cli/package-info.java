/** Command line: serve, check, call and explain. */
@NullMarked
package io.throttlekit.service.cli;

import org.jspecify.annotations.NullMarked;
