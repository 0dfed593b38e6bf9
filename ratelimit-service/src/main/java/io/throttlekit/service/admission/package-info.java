/**
 * Decides one request: which rules apply, which counters are charged, and the verdict on each
 * descriptor.
 */
@NullMarked
package io.throttlekit.service.admission;

import org.jspecify.annotations.NullMarked;
