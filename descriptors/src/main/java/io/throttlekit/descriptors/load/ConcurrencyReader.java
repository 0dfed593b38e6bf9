package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.ConcurrencyRule.FleetTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.descriptors.policy.ConcurrencyRule.WaitingRoom;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.descriptors.policy.WindowText;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.Headroom;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.WindowSettings;
import io.throttlekit.limiter.Priority;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.OnOutage;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the concurrency limit of a descriptor: the mapping {@code concurrency}. */
record ConcurrencyReader(PolicySection concurrency, LoadOptions options) {
  // Far above what one backend serves at once; small enough for arithmetic with ints.
  private static final int MAX_IN_FLIGHT = 1_000_000;

  /** Text that looks like an entry's key and needs no quotes in YAML; used for hints only. */
  private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,59}");

  /**
   * A flush interval up to this part of the service time is allowed. Permits that are held for a
   * quarter longer than their requests still measure the backend.
   */
  private static final int MAX_FLUSH_ONE_IN = 4;

  /** Reads the section; returns {@code null} when there is none, or after reporting an error. */
  static @Nullable ConcurrencyRule read(@Nullable PolicySection concurrency, LoadOptions options) {
    return concurrency == null ? null : new ConcurrencyReader(concurrency, options).read();
  }

  private @Nullable ConcurrencyRule read() {
    LimitAlgorithm id = concurrency.constant("algorithm", LimitAlgorithm.class);
    LimitRange range = range(id);
    String algorithm = id == null ? null : id.id();
    var _ = concurrency.refuseOthers("algorithm", algorithm, String.valueOf(algorithm));
    FailsafeLimit.Settings failsafe = failsafe();
    Recalibration recalibration = recalibration(range);
    String gate = concurrency.word("gate");
    if (gate == null || concurrency.mayMean("gate")) {
      return null;
    }
    boolean atEnvoys = gate.equals("envoy");
    if (atEnvoys && !options.steering()) {
      concurrency.error(
          "gate",
          "`gate: envoy` learns from access logs, which this service does not take",
          "set concurrency.access_log: true, or write gate: service");
      return null;
    }
    ConcurrencyRule.Gate read = atEnvoys ? atEnvoys() : atService();
    return id == null || range == null || read == null
        ? null
        : new ConcurrencyRule(id, range, failsafe, recalibration, read);
  }

  private @Nullable LimitRange range(@Nullable LimitAlgorithm id) {
    int min = (int) concurrency.number("min"); // 0 when absent
    int max = (int) concurrency.number("max");
    int initial = (int) concurrency.number("initial");
    if (id == null || min < 0 || max < 0 || initial < 0) {
      return null;
    }
    int least = min > 0 ? min : max > 0 ? id.minBelow(max) : id.min();
    int most = max > 0 ? max : min > 0 ? id.maxAbove(min, MAX_IN_FLIGHT) : id.max();
    if (least > most) {
      concurrency.error(
          "min",
          "`min` is " + least + ", above `max`, which is " + most,
          "write a smaller min, or a larger max");
      return null;
    }
    int first = initial > 0 ? initial : id.initial(least, most);
    if (isOutside(first, least, most, concurrency, "initial", "an initial")) {
      return null;
    }
    warnOfStandstill(min > 0 ? "min" : "max", least, most, min, max);
    return new LimitRange(least, most, first);
  }

  private boolean isOutside(
      int limit, int least, int most, PolicySection section, String key, String other) {
    boolean outside = limit < least || limit > most;
    if (outside) {
      section.error(
          key,
          "%s is %d, but the concurrency limit stays from %d to %d"
              .formatted(Wording.quote(key), limit, least, most),
          "write " + other + " between min and max, or remove it");
    }
    return outside;
  }

  // A policy that gives one bound expects a limit that moves; one that gives both equal may mean
  // it.
  private void warnOfStandstill(String written, int least, int most, int min, int max) {
    if (concurrency.has(written) && least == most && (min == 0 || max == 0)) {
      String other = min > 0 ? "max" : "min";
      concurrency.warning(
          written,
          "the concurrency limit is always %d: this %s leaves it no room to move"
              .formatted(least, Wording.quote(written)),
          "write " + other + ": " + least + " too if that is meant");
    }
  }

  /** Returns the parameters of the failsafe algorithm; null for the defaults, or after an error. */
  private FailsafeLimit.@Nullable Settings failsafe() {
    PolicySection failsafe = concurrency.section("failsafe");
    if (failsafe == null) {
      return null;
    }
    WindowSettings recent = window(failsafe.sectionOrDefaults("recent_window"));
    double quantile = failsafe.decimal("quantile");
    int baseline = (int) failsafe.number("baseline_window");
    int correlated = (int) failsafe.number("correlation_window");
    double factor = failsafe.decimal("max_limit_factor");
    double decay = failsafe.decimal("max_limit_factor_decay");
    double least = failsafe.decimal("min_limit_factor");
    long stabilization = failsafe.millis("stabilization");
    var _ = failsafe.isAbove("min_limit_factor", least, "max_limit_factor", factor);
    boolean unread = quantile < 0 || baseline < 0 || correlated < 0 || stabilization < 0;
    return unread || recent == null || factor < 0 || decay < 0 || least < 0
        ? null
        : new FailsafeLimit.Settings(
            recent,
            quantile,
            baseline,
            correlated,
            Headroom.times(factor, decay, least),
            TimeUnit.MILLISECONDS.toNanos(stabilization));
  }

  private @Nullable WindowSettings window(PolicySection window) {
    long min = window.millis("min");
    // A default must not lie below a written `min`.
    long max = window.has("max") ? window.millis("max") : Math.max(window.millis("max"), min);
    int samples = (int) window.number("samples");
    boolean above = window.isAbove("min", (double) min, "max", (double) max);
    return above || min < 0 || max < 0 || samples < 0
        ? null
        : new WindowSettings(
            TimeUnit.MILLISECONDS.toNanos(min), TimeUnit.MILLISECONDS.toNanos(max), samples);
  }

  /** Returns the measurements of the latency without load; null for none, or after an error. */
  private @Nullable Recalibration recalibration(@Nullable LimitRange range) {
    PolicySection recalibration = concurrency.section("recalibration");
    if (recalibration == null) {
      return null;
    }
    long interval = recalibration.millis("interval");
    int written = (int) recalibration.number("probe_limit"); // 0 when absent
    int samples = (int) recalibration.number("samples");
    if (range == null || interval < 0 || written < 0 || samples < 0) {
      return null;
    }
    int limit = written == 0 ? range.min() : written;
    return isOutside(limit, range.min(), range.max(), recalibration, "probe_limit", "a probe_limit")
        ? null
        : new Recalibration(TimeUnit.MILLISECONDS.toNanos(interval), limit, samples);
  }

  private ConcurrencyRule.@Nullable Gate atEnvoys() {
    var _ = concurrency.refuseOthers("gate", "envoy", "`gate: envoy`, which admits without a call");
    String priority = concurrency.word("circuit_breaker");
    return new ConcurrencyRule.AtEnvoys(concurrency.required("cluster"), "high".equals(priority));
  }

  private ConcurrencyRule.@Nullable Gate atService() {
    var _ = concurrency.refuseOthers("gate", "service", "`gate: service`");
    LeaseTerms lease = lease(concurrency.sectionOrDefaults("lease"));
    // Priority levels decide admission to a queue, so there has to be one.
    boolean queued = concurrency.has("queue") || concurrency.has("priority");
    WaitingRoom queue = queued ? queue(concurrency.sectionOrDefaults("queue")) : null;
    PolicySection priority = priority();
    String entry = entry(priority, "entry", "priority");
    String user = entry(priority, "user", "user");
    String prioritizer = text(priority, "prioritizer");
    if (entry != null && user != null && entry.equals(user)) {
      concurrency.error(
          "priority",
          "`entry` and `user` are the same entry " + Wording.quote(user),
          "choose another key for one of them");
    }
    FleetTerms fleet = fleet(concurrency.sectionOrDefaults("coordination"));
    return lease == null || fleet == null
        ? null
        : new ConcurrencyRule.AtService(lease, queue, entry, user, prioritizer, fleet);
  }

  /** Returns how replicas share the limit; null after reporting an error. */
  private static @Nullable FleetTerms fleet(PolicySection coordination) {
    Aggregate aggregate = coordination.constant("aggregate", Aggregate.class);
    Allocation allocation = coordination.constant("allocation", Allocation.class);
    OnOutage onOutage = coordination.constant("on_outage", OnOutage.class);
    return aggregate == null || allocation == null || onOutage == null
        ? null
        : new FleetTerms(new Coordination(aggregate, allocation, true), onOutage);
  }

  private @Nullable WaitingRoom queue(PolicySection queue) {
    double initial = queue.decimal("initial");
    // A default must not lie below a written `initial`.
    double max = queue.has("max") ? queue.decimal("max") : Math.max(queue.decimal("max"), initial);
    return queue.isAbove("initial", initial, "max", max) || initial < 0 || max < 0
        ? null
        : new WaitingRoom(initial, max);
  }

  /** Returns the terms of a permit; null after reporting an error. */
  private @Nullable LeaseTerms lease(PolicySection lease) {
    long ttl = lease.millis("ttl");
    Release release = lease.constant("release", Release.class);
    if (release == null) {
      return null;
    }
    if (release == Release.ACCESS_LOG && !options.accessLogs()) {
      lease.error(
          "release",
          "`release: access_log` waits for access logs, which this service does not take",
          "set concurrency.access_log: true, or write release: stream_done");
      return null;
    }
    boolean good =
        release == Release.ACCESS_LOG
            ? isSoonLogged(lease)
            : !lease.refuseOthers("release", "stream_done", "release stream_done");
    return ttl < 0 || !good ? null : new LeaseTerms(ttl, release);
  }

  private static boolean isSoonLogged(PolicySection lease) {
    long flush = lease.millis("flush_interval");
    long service = lease.millis("service_time");
    List<String> both = List.of("flush_interval", "service_time");
    if (!both.stream().allMatch(lease::has)) {
      if (both.stream().noneMatch(lease::mayMean)) {
        lease.errorAtKey(
            "release",
            "`release: access_log` needs the delay of the log and the duration of a request:"
                + " permits of ended requests that wait for the log count as in flight",
            "add flush_interval and service_time, or write release: stream_done");
      }
      return false;
    }
    if (flush > service / MAX_FLUSH_ONE_IN && service >= 0) {
      lease.error(
          "flush_interval",
          "a log flushed every %s is too late a release for requests of %s: permits of ended"
                  .formatted(WindowText.of(flush), WindowText.of(service))
              + " requests would fill the limit; at most a quarter of the service time is soon"
              + " enough",
          "set buffer_size_bytes: 0 of the log and write flush_interval: 0; or write release:"
              + " stream_done; or gate: envoy, where the log is only a sensor");
      return false;
    }
    return flush >= 0 && service >= 0;
  }

  /** Returns the section of the priorities, without any key where there are none. */
  private PolicySection priority() {
    Fields.Field field = concurrency.get("priority");
    YamlNode.Scalar scalar = field == null ? null : field.scalar();
    if (field != null && scalar != null) {
      boolean key = KEY.matcher(scalar.text()).matches() && !Priority.isLevel(scalar.text());
      String meant = key ? scalar.text() : "KEY";
      concurrency.wrongType(field, "a mapping", "write priority: {entry: " + meant + "}");
      return concurrency.empty("priority");
    }
    PolicySection priority = concurrency.section("priority");
    if (priority == null) {
      return concurrency.empty("priority");
    }
    var _ = priority.required("entry");
    return priority;
  }

  /** Returns the key of an entry that names something; null when absent, or after an error. */
  private @Nullable String entry(PolicySection priority, String key, String named) {
    String entry = text(priority, key);
    if (entry == null) {
      return null;
    }
    StreamDoneEntry reserved = StreamDoneEntry.of(entry);
    if (reserved != null) {
      priority.error(
          key,
          "an entry %s %s a permit, and names no %s"
              .formatted(Wording.quote(entry), reserved.effect(), named),
          "choose another key");
      return null;
    }
    return entry;
  }

  /** Returns an optional text; null when absent, or after reporting that it is empty. */
  private @Nullable String text(PolicySection priority, String key) {
    if (!priority.has(key)) {
      return null;
    }
    if (!key.equals("entry") && priority.lacks(key)) { // that of the entry is reported already
      priority.error(key, Wording.quote(key) + " is empty", "write a text, or remove it");
    }
    String text = priority.text(key);
    return text.isEmpty() ? null : text;
  }
}
