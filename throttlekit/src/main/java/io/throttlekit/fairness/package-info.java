/** One limit that many tenants share by weight: guarantees, borrowing and their bounds. */
@NullMarked
package io.throttlekit.fairness;

import org.jspecify.annotations.NullMarked;
