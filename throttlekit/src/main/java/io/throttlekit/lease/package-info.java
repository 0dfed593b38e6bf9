/** Cells that spend leased units from memory, and what they request and return. */
@NullMarked
package io.throttlekit.lease;

import org.jspecify.annotations.NullMarked;
