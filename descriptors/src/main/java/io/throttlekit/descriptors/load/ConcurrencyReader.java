package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.policy.ConcurrencyRule.WaitingRoom;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.yaml.Fields;
import io.throttlekit.descriptors.yaml.YamlNode;
import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.Headroom;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.WindowSettings;
import io.throttlekit.limiter.Priority;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the concurrency limit of a descriptor: the mapping {@code concurrency}. */
final class ConcurrencyReader {
  // Far above what one backend serves at once; small enough for arithmetic with ints.
  private static final int MAX_IN_FLIGHT = 1_000_000;

  /** Text that looks like an entry's key and needs no quotes in YAML; used for hints only. */
  private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,59}");

  private final Section concurrency;
  private final LoadOptions options;

  private ConcurrencyReader(Section concurrency, LoadOptions options) {
    this.concurrency = concurrency;
    this.options = options;
  }

  /** Reads the section; returns {@code null} when there is none, or after reporting an error. */
  static @Nullable ConcurrencyRule read(@Nullable Section concurrency, LoadOptions options) {
    return concurrency == null ? null : new ConcurrencyReader(concurrency, options).read();
  }

  private @Nullable ConcurrencyRule read() {
    LimitAlgorithm id = concurrency.constant("algorithm", LimitAlgorithm.class);
    LimitRange range = range(id);
    if (id != null && id != LimitAlgorithm.FAILSAFE) {
      var _ = concurrency.refuse("failsafe", id.id(), "write algorithm: failsafe, or remove it");
    }
    if (id != null && id != LimitAlgorithm.GRADIENT2 && id != LimitAlgorithm.AIMD) {
      String hint = "write algorithm: gradient2 or algorithm: aimd, or remove it";
      var _ = concurrency.refuse("recalibration", id.id(), hint);
    }
    FailsafeLimit.Settings failsafe = failsafe();
    Recalibration recalibration = recalibration(range);
    String gate = concurrency.word("gate");
    if (gate == null || concurrency.incomplete()) {
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
      int limit, int least, int most, Section section, String key, String other) {
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
    Section failsafe = concurrency.section("failsafe");
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
    if (least > factor && factor > 0) {
      failsafe.error(
          "min_limit_factor",
          "`min_limit_factor` is above `max_limit_factor`",
          "write a smaller min_limit_factor, or a larger max_limit_factor");
    }
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

  private @Nullable WindowSettings window(Section window) {
    long min = window.millis("min");
    // A default must not lie below a written `min`.
    long max = window.has("max") ? window.millis("max") : Math.max(window.millis("max"), min);
    int samples = (int) window.number("samples");
    if (min > max && max > 0) {
      window.error(
          "min",
          "`min` of recent_window is above its `max`",
          "write a smaller min, or a larger max");
      return null;
    }
    return min < 0 || max < 0 || samples < 0
        ? null
        : new WindowSettings(
            TimeUnit.MILLISECONDS.toNanos(min), TimeUnit.MILLISECONDS.toNanos(max), samples);
  }

  /** Returns the measurements of the latency without load; null for none, or after an error. */
  private @Nullable Recalibration recalibration(@Nullable LimitRange range) {
    Section recalibration = concurrency.section("recalibration");
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
    for (String key : List.of("lease", "queue", "priority")) {
      var _ =
          concurrency.refuse(
              key,
              "`gate: envoy`, which admits without a call",
              "write gate: service, or remove it");
    }
    if (concurrency.lacks("cluster")) {
      concurrency.error(
          "cluster",
          "`gate: envoy` needs the cluster whose max_requests it sets",
          "add cluster: NAME, as Envoy calls it");
    }
    String priority = concurrency.word("circuit_breaker");
    return new ConcurrencyRule.AtEnvoys(concurrency.text("cluster"), "high".equals(priority));
  }

  private ConcurrencyRule.@Nullable Gate atService() {
    for (String key : List.of("cluster", "circuit_breaker")) {
      var _ = concurrency.refuse(key, "`gate: service`", "write gate: envoy, or remove it");
    }
    LeaseTerms lease =
        PermitReader.read(concurrency.sectionOrDefaults("lease"), options.accessLogs());
    // Priority levels decide admission to a queue, so there has to be one.
    boolean queued = concurrency.has("queue") || concurrency.has("priority");
    WaitingRoom queue = queued ? queue(concurrency.sectionOrDefaults("queue")) : null;
    Section priority = priority();
    String entry = priority == null ? null : entry(priority, "entry", "priority");
    String user = priority == null ? null : entry(priority, "user", "user");
    String prioritizer = priority == null ? null : text(priority, "prioritizer");
    if (entry != null && user != null && entry.equals(user)) {
      concurrency.error(
          "priority",
          "`entry` and `user` are the same entry " + Wording.quote(user),
          "choose another key for one of them");
    }
    return lease == null
        ? null
        : new ConcurrencyRule.AtService(lease, queue, entry, user, prioritizer);
  }

  private @Nullable WaitingRoom queue(Section queue) {
    double initial = queue.decimal("initial");
    // A default must not lie below a written `initial`.
    double max = queue.has("max") ? queue.decimal("max") : Math.max(queue.decimal("max"), initial);
    if (initial > max && max > 0) {
      queue.error(
          "initial",
          "`initial` of the queue is above its `max`",
          "write a smaller initial, or a larger max");
      return null;
    }
    return initial < 0 || max < 0 ? null : new WaitingRoom(initial, max);
  }

  private @Nullable Section priority() {
    Fields.Field field = concurrency.get("priority");
    YamlNode.Scalar scalar = concurrency.scalar("priority");
    if (field != null && scalar != null) {
      boolean key = KEY.matcher(scalar.text()).matches() && !Priority.isLevel(scalar.text());
      String meant = key ? scalar.text() : "KEY";
      concurrency.wrongType(field, "a mapping", "write priority: {entry: " + meant + "}");
      return null;
    }
    Section priority = concurrency.section("priority");
    if (priority != null && priority.lacks("entry")) {
      priority.error(
          "entry",
          "`priority` needs the entry of a request that names it",
          "write priority: {entry: KEY}");
    }
    return priority;
  }

  /** Returns the key of an entry that names something; null when absent, or after an error. */
  private @Nullable String entry(Section priority, String key, String named) {
    String entry = key.equals("entry") ? priority.text(key) : text(priority, key);
    if (entry == null || entry.isEmpty()) {
      return null;
    }
    if (entry.equals(Rule.LEASE_ENTRY)) {
      priority.error(
          key,
          "an entry " + Wording.quote(entry) + " returns a permit, and names no " + named,
          "choose another key");
      return null;
    }
    return entry;
  }

  /** Returns an optional text; null when absent, or after reporting that it is empty. */
  private @Nullable String text(Section priority, String key) {
    if (!priority.has(key)) {
      return null;
    }
    if (priority.lacks(key)) {
      priority.error(key, Wording.quote(key) + " is empty", "write a text, or remove it");
    }
    String text = priority.text(key);
    return text.isEmpty() ? null : text;
  }
}
