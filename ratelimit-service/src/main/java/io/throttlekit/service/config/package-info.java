/** The typed configuration of the process: where every value came from, and what it is. */
@NullMarked
package io.throttlekit.service.config;

import org.jspecify.annotations.NullMarked;
