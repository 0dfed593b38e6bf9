package io.throttlekit.service.telemetry.mapping;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One mapping of a file: which statistics it selects, and what they become.
 *
 * @param only the kind that it is restricted to; null for all kinds
 * @param drop whether the statistics are left out
 * @param name template of the metric's name
 * @param labels templates of values, by the names of labels
 * @param scale factor for values
 * @param timer how a timer is shown
 */
record Mapping(
    NameMatcher matcher,
    @Nullable StatisticKind only,
    boolean drop,
    String name,
    Map<String, String> labels,
    double scale,
    TimerShape timer) {}
