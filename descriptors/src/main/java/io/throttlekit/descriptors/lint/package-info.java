/** Warnings about rules that have no effect. */
@NullMarked
package io.throttlekit.descriptors.lint;

import org.jspecify.annotations.NullMarked;
