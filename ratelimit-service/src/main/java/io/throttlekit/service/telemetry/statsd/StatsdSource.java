package io.throttlekit.service.telemetry.statsd;

import java.util.List;

/** Statistics with envoyproxy/ratelimit's names for statsd. Thread-safe. */
@FunctionalInterface
public interface StatsdSource {

  /** The timer of that program, in ms: how long a ShouldRateLimit call took. */
  String RESPONSE_TIME = "ratelimit_server.ShouldRateLimit.response_time";

  /** Receives statistics. */
  interface Reader {

    /** Receives a counter: {@code total} since the start of this process. */
    void counter(String name, long total);

    /** Receives a gauge. */
    void gauge(String name, long value);
  }

  /** Passes all statistics to {@code reader}. */
  void read(Reader reader);

  /** Returns the statistics of all sources. */
  static StatsdSource of(List<StatsdSource> sources) {
    return reader -> sources.forEach(source -> source.read(reader));
  }
}
