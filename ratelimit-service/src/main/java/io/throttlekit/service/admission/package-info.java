/**
 * The decision about one request: which rules apply, what is charged, what each descriptor gets.
 */
@NullMarked
package io.throttlekit.service.admission;

import org.jspecify.annotations.NullMarked;
