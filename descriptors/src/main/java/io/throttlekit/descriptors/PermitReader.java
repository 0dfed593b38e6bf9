package io.throttlekit.descriptors;

import io.throttlekit.descriptors.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.ConcurrencyRule.Release;
import io.throttlekit.descriptors.Fields.Field;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the terms of a permit: the mapping {@code lease} of a {@code concurrency}. */
final class PermitReader {
  /** Default time after which a permit expires. */
  static final long TTL_MILLIS = 60_000;

  // A day; bounds how long a permit stays taken whose release was lost.
  private static final long MAX_MILLIS = 86_400_000;
  private static final List<String> RELEASES = List.of("stream_done", "access_log");

  /**
   * A flush interval up to this part of the service time is allowed. Permits that are held for a
   * quarter longer than their requests still measure the backend.
   */
  private static final int LARGEST_PART = 4;

  private final LoadOptions options;
  private final Problems problems;
  private final Values values;

  PermitReader(LoadOptions options, Problems problems) {
    this.options = options;
    this.problems = problems;
    this.values = new Values(problems);
  }

  /** Reads the field, or returns the defaults; {@code null} after reporting an error. */
  @Nullable LeaseTerms read(@Nullable Field lease) {
    if (lease == null) {
      return new LeaseTerms(TTL_MILLIS, Release.STREAM_DONE);
    }
    YamlNode.Mapping mapping = values.mapping(lease);
    if (mapping == null) {
      return null;
    }
    Fields fields = Fields.of(mapping, problems);
    Place.PERMIT_LEASE.check(fields, problems);
    Field lived = fields.get("ttl");
    long ttl = lived == null ? TTL_MILLIS : duration(lived, false);
    Field released = fields.get("release");
    String release = released == null ? "stream_done" : values.choice(released, RELEASES);
    if (release == null) {
      return null;
    }
    if (released != null && release.equals("access_log") && !options.accessLogs()) {
      problems.error(
          released.value().location(),
          "`release: access_log` waits for access logs, which this service does not take",
          "set concurrency.access_log: true, or write release: stream_done");
      return null;
    }
    boolean good =
        release.equals("access_log") ? checkLog(fields, released) : checkStreamDone(fields);
    return ttl < 0 || !good
        ? null
        : new LeaseTerms(ttl, Release.valueOf(release.toUpperCase(Locale.ROOT)));
  }

  private boolean checkStreamDone(Fields fields) {
    boolean good = true;
    for (String key : List.of("flush_interval", "service_time")) {
      Field field = fields.get(key);
      if (field != null) {
        good = false;
        problems.error(
            field.at(),
            Wording.quote(key) + " has no meaning with release stream_done",
            "write release: access_log, or remove it");
      }
    }
    return good;
  }

  private boolean checkLog(Fields fields, @Nullable Field released) {
    Field flushed = fields.get("flush_interval");
    Field served = fields.get("service_time");
    if (flushed == null || served == null) {
      problems.error(
          released == null ? fields.location() : released.at(),
          "`release: access_log` must say how late the log is and how long a request takes: slots"
              + " of ended requests that wait for the log count as in flight",
          "add flush_interval and service_time, or write release: stream_done");
      return false;
    }
    long flush = duration(flushed, true);
    long service = duration(served, false);
    if (flush < 0 || service < 0) {
      return false;
    }
    if (flush > service / LARGEST_PART) {
      problems.error(
          flushed.value().location(),
          "a log flushed every %s is too late a release for requests of %s: slots of ended requests"
                  .formatted(WindowText.of(flush), WindowText.of(service))
              + " would fill the concurrency limit; at most a quarter of the service time is soon"
              + " enough",
          "set buffer_size_bytes: 0 of the log and write flush_interval: 0; or write release:"
              + " stream_done; or gate: envoy, where the log is only a sensor");
      return false;
    }
    return true;
  }

  /** Returns milliseconds, or -1 after reporting an error. */
  private long duration(Field field, boolean mayBeZero) {
    String text = values.text(field);
    long millis = WindowText.millis(text);
    if (millis == 0 && mayBeZero && WindowText.isZero(text)) {
      return 0;
    }
    if (millis == 0) {
      // Of other types, values.text() has reported an error already.
      if (field.value() instanceof YamlNode.Scalar scalar && scalar.kind() != ScalarKind.FLOAT) {
        problems.error(
            scalar.location(),
            Wording.quote(text) + " is not a duration of at least 1ms",
            WindowText.HINT);
      }
      return -1;
    }
    if (millis > MAX_MILLIS) {
      problems.error(
          field.value().location(),
          Wording.quote(field.name()) + " is longer than a day",
          "write a shorter one");
      return -1;
    }
    return millis;
  }
}
