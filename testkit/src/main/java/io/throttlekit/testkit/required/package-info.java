/** Tests that need a real program: skipped only if it is unavailable, which the build checks. */
@NullMarked
package io.throttlekit.testkit.required;

import org.jspecify.annotations.NullMarked;
