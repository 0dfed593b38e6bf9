/** The effective policies, and the loading of changed files. */
@NullMarked
package io.throttlekit.service.policies;

import org.jspecify.annotations.NullMarked;
