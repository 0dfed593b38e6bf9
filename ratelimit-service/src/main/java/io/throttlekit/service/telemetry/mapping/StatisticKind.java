package io.throttlekit.service.telemetry.mapping;

/** The kinds of statistics that mappings distinguish. */
enum StatisticKind {
  COUNTER,
  GAUGE,
  OBSERVER
}
