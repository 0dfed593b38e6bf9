/** The specifications, checked by TLC, and their twins in Java. */
@NullMarked
package io.throttlekit.spec;

import org.jspecify.annotations.NullMarked;
