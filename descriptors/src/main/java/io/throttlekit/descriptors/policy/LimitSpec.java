package io.throttlekit.descriptors.policy;

import io.throttlekit.rate.RateAlgorithm;
import org.jspecify.annotations.Nullable;

/** Limit as written in a policy file. */
public record LimitSpec(
    RateAlgorithm<?> algorithm,
    long requestsPerUnit,
    @Nullable LimitUnit unit,
    long windowMillis) {}
