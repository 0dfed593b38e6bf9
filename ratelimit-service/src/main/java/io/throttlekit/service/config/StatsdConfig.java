package io.throttlekit.service.config;

import java.time.Duration;
import java.util.SortedMap;

/**
 * Configuration of a statsd server that receives statistics.
 *
 * @param host of the server
 * @param port of the server, from 1
 * @param protocol of the transport
 * @param format of the lines
 * @param tags sent with each statistic
 * @param flushInterval time between two transfers
 */
public record StatsdConfig(
    String host,
    int port,
    Protocol protocol,
    Format format,
    SortedMap<String, String> tags,
    Duration flushInterval) {

  /** Transport of lines. */
  public enum Protocol {
    TCP,
    UDP
  }

  /** How tags are written. */
  public enum Format {
    /** As a part of the name: {@code name.__tag=value}. */
    STATSD,
    /** As DogStatsD does, after the value: {@code |#tag:value}. */
    DOGSTATSD
  }
}
