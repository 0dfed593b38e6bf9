package io.throttlekit.service.admission;

import io.throttlekit.Claim;
import io.throttlekit.descriptors.Rule;

/** The charge of one descriptor, with its rule. */
record RuleClaim(Rule rule, Claim claim) {}
