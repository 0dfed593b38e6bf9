/** Typed configuration of the process: every value and its origin. */
@NullMarked
package io.throttlekit.service.config;

import org.jspecify.annotations.NullMarked;
