/** The process: creates its parts and connects them by hand. */
@NullMarked
package io.throttlekit.service;

import org.jspecify.annotations.NullMarked;
