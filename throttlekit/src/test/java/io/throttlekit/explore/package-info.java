/**
 * Exhaustive exploration: every order of events of a small model, or of a real object, breadth
 * first.
 */
@NullMarked
package io.throttlekit.explore;

import org.jspecify.annotations.NullMarked;
