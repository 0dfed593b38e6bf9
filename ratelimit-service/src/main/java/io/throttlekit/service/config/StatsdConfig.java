package io.throttlekit.service.config;

import java.time.Duration;
import java.util.List;
import java.util.SortedMap;

/**
 * Configuration of a statsd server that receives statistics.
 *
 * @param host of the server
 * @param port of the server, from 1
 * @param protocol of the transport
 * @param format of the lines
 * @param tags sent with each statistic
 * @param rewrites other names for DogStatsD; the first that matches a name counts
 * @param flushInterval time between two transfers
 */
public record StatsdConfig(
    String host,
    int port,
    Protocol protocol,
    Format format,
    SortedMap<String, String> tags,
    List<Rewrite> rewrites,
    Duration flushInterval) {

  /**
   * Another name, and tags, for statistics. {@code $1} in both stands for the first group of the
   * pattern, {@code $0} for all that it matches.
   *
   * @param pattern regular expression of RE2 that a name has to contain
   * @param name replaces the name
   * @param tags sent with the statistic
   */
  public record Rewrite(String pattern, String name, SortedMap<String, String> tags) {}

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
