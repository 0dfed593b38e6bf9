/**
 * What the build adds to every run of tests: stacks of what hangs, and output only of what fails.
 */
@NullMarked
package io.throttlekit.testkit.session;

import org.jspecify.annotations.NullMarked;
