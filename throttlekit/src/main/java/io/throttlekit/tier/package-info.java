/**
 * The tiers between requests and a shared store. A rule's tier sets how much of a decision is made
 * in this process's memory, and how exact the limit is.
 */
@NullMarked
package io.throttlekit.tier;

import org.jspecify.annotations.NullMarked;
