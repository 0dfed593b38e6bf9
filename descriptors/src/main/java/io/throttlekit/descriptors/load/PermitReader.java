package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.descriptors.policy.WindowText;
import org.jspecify.annotations.Nullable;

/** Reads the terms of a permit: the mapping {@code lease} of a {@code concurrency}. */
final class PermitReader {
  /**
   * A flush interval up to this part of the service time is allowed. Permits that are held for a
   * quarter longer than their requests still measure the backend.
   */
  private static final int LARGEST_PART = 4;

  private PermitReader() {}

  /**
   * Reads the section; {@code null} after reporting an error.
   *
   * @param accessLogs whether access logs are read; otherwise {@code release: access_log} is an
   *     error
   */
  static @Nullable LeaseTerms read(Section lease, boolean accessLogs) {
    long ttl = lease.millis("ttl");
    Release release = lease.constant("release", Release.class);
    if (release == null) {
      return null;
    }
    if (release == Release.ACCESS_LOG && !accessLogs) {
      lease.error(
          "release",
          "`release: access_log` waits for access logs, which this service does not take",
          "set concurrency.access_log: true, or write release: stream_done");
      return null;
    }
    boolean good = release == Release.ACCESS_LOG ? checkLog(lease) : checkStreamDone(lease);
    return ttl < 0 || !good ? null : new LeaseTerms(ttl, release);
  }

  private static boolean checkStreamDone(Section lease) {
    String hint = "write release: access_log, or remove it";
    boolean delayed = lease.refuse("flush_interval", "release stream_done", hint);
    return !lease.refuse("service_time", "release stream_done", hint) && !delayed;
  }

  private static boolean checkLog(Section lease) {
    if (!lease.has("flush_interval") || !lease.has("service_time")) {
      lease.errorAtKey(
          "release",
          "`release: access_log` needs the delay of the log and the duration of a request:"
              + " slots of ended requests that wait for the log count as in flight",
          "add flush_interval and service_time, or write release: stream_done");
      return false;
    }
    long flush = lease.millis("flush_interval");
    long service = lease.millis("service_time");
    if (flush > service / LARGEST_PART && service >= 0) {
      lease.error(
          "flush_interval",
          "a log flushed every %s is too late a release for requests of %s: slots of ended"
                  .formatted(WindowText.of(flush), WindowText.of(service))
              + " requests would fill the limit; at most a quarter of the service time is soon"
              + " enough",
          "set buffer_size_bytes: 0 of the log and write flush_interval: 0; or write release:"
              + " stream_done; or gate: envoy, where the log is only a sensor");
      return false;
    }
    return flush >= 0 && service >= 0;
  }
}
