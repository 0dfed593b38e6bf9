/**
 * Statistics over windows of samples: quantiles, averages, medians, regressions and correlations.
 */
@NullMarked
package io.throttlekit.limit.stats;

import org.jspecify.annotations.NullMarked;
