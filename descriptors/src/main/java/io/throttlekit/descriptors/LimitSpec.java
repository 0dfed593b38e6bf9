package io.throttlekit.descriptors;

import io.throttlekit.rate.RateAlgorithm;
import org.jspecify.annotations.Nullable;

/** A limit as a policy file states it. */
record LimitSpec(
    RateAlgorithm<?> algorithm,
    long requestsPerUnit,
    @Nullable LimitUnit unit,
    long windowMillis) {}
