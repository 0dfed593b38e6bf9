/** The policy book: domains, rules, and the rule that a descriptor matches. */
@NullMarked
package io.throttlekit.descriptors.policy;

import org.jspecify.annotations.NullMarked;
