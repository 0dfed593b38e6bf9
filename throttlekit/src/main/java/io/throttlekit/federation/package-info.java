/** Budgets that many regions share: leased from a coordinator, spent where the demand is. */
@NullMarked
package io.throttlekit.federation;

import org.jspecify.annotations.NullMarked;
