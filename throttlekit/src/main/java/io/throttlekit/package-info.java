/** The types that all parts of ThrottleKit share: decisions, charges, counter keys and time. */
@NullMarked
package io.throttlekit;

import org.jspecify.annotations.NullMarked;
