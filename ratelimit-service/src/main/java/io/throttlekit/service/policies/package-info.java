/** The policies in force, and how changed files become policies in force. */
@NullMarked
package io.throttlekit.service.policies;

import org.jspecify.annotations.NullMarked;
