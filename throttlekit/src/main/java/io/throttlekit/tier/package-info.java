/**
 * What stands between a request and a shared store: a rule's tier says how much of each decision is
 * made in this process's memory, and what that costs in exactness.
 */
@NullMarked
package io.throttlekit.tier;

import org.jspecify.annotations.NullMarked;
