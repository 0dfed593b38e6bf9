package io.throttlekit.service.telemetry.mapping;

/** The kinds of statistics that mappings tell apart. */
enum StatisticKind {
  COUNTER,
  GAUGE,
  OBSERVER
}
