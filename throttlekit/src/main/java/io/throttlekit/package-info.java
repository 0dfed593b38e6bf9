/** What every part of ThrottleKit speaks: decisions, charges, counter keys and time. */
@NullMarked
package io.throttlekit;

import org.jspecify.annotations.NullMarked;
