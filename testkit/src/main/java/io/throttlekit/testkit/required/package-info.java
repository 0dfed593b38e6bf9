/**
 * Tests that need a real program: skipped only where it cannot be had, and the build checks that.
 */
@NullMarked
package io.throttlekit.testkit.required;

import org.jspecify.annotations.NullMarked;
