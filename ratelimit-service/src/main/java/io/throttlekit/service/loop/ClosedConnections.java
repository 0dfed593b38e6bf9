package io.throttlekit.service.loop;

import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.service.log.PrintableText;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjLongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts and logs the connections of a listener that are closed because of what their clients do.
 * Thread-safe.
 */
public final class ClosedConnections {
  private static final Logger LOG = LoggerFactory.getLogger(ClosedConnections.class);
  // a client could cause thousands of lines a second
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  /** Reasons to close a connection. */
  public enum Reason {
    /** Too many bytes of incomplete requests, unread answers or requests that are decided. */
    MEMORY,
    /** Pings more often than permitted. */
    PINGS,
    /** Too many calls that were reset, by the client or because of its errors. */
    RESETS,
    /** Too many frames that belong to no call. */
    FRAMES,
    /** Bytes that are no HTTP/2, or violate it. */
    PROTOCOL_ERROR,
    /** A fault of this program. */
    INTERNAL_ERROR
  }

  private final TimeSource time;
  private final LogInterval warnings;
  private final Map<Reason, LongAdder> counts = new EnumMap<>(Reason.class);

  /** Creates counts of one listener. */
  public ClosedConnections(TimeSource time) {
    this.time = time;
    this.warnings = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
    for (Reason reason : Reason.values()) {
      counts.put(reason, new LongAdder());
    }
  }

  /** Passes each count with the name of its reason in lower case. */
  public void forEach(ObjLongConsumer<String> reader) {
    counts.forEach(
        (reason, count) -> reader.accept(reason.name().toLowerCase(Locale.ROOT), count.sum()));
  }

  /**
   * Counts a connection, and logs it unless another was logged in the last 10 s.
   *
   * @param what its client did, such as {@code sent pings too often}
   */
  void count(Reason reason, String what) {
    Objects.requireNonNull(counts.get(reason)).increment();
    if (warnings.isDue(time.monotonicNanos())) {
      LOG.warn(
          "a client that {} was disconnected, {} so far",
          PrintableText.of(what),
          counts.values().stream().mapToLong(LongAdder::sum).sum());
    }
  }
}
