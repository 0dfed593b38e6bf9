/** The process: creates and connects its components by hand. */
@NullMarked
package io.throttlekit.service;

import org.jspecify.annotations.NullMarked;
