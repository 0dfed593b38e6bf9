package io.throttlekit.service.admission;

import io.throttlekit.Claim;
import io.throttlekit.descriptors.Rule;

/** What one descriptor is charged, and the rule that says so. */
record RuleClaim(Rule rule, Claim claim) {}
