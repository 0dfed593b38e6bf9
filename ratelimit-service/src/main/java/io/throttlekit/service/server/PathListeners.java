package io.throttlekit.service.server;

import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.authz.CheckListener;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.rls.CallListener;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of a {@link DecisionPath}.
 *
 * @param decisions receives the decision of each descriptor
 * @param calls receives the rate-limit calls
 * @param checks receives the calls of external authorization; null where that is not configured
 * @param limits receives the events of the concurrency limits
 */
public record PathListeners(
    DecisionListener decisions,
    CallListener calls,
    @Nullable CheckListener checks,
    ConcurrencyListener limits) {}
