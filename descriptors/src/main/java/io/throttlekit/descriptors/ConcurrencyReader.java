package io.throttlekit.descriptors;

import io.throttlekit.concurrency.LimitRange;
import io.throttlekit.concurrency.Priority;
import io.throttlekit.descriptors.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.ConcurrencyRule.WaitingRoom;
import io.throttlekit.descriptors.Fields.Field;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the concurrency limit of a descriptor: the mapping {@code concurrency}. */
final class ConcurrencyReader {
  private static final List<String> ALGORITHMS =
      Stream.of(LimitAlgorithm.values()).map(LimitAlgorithm::id).toList();
  private static final List<String> GATES = List.of("service", "envoy");
  private static final List<String> CIRCUIT_BREAKERS = List.of("default", "high");
  // Far above what one backend serves at once; small enough for arithmetic with ints.
  private static final int MAX_IN_FLIGHT = 1_000_000;
  private static final String MAX_FACTOR = "100";

  /** Text that looks like an entry's key and needs no quotes in YAML; used for hints only. */
  private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,59}");

  // Defaults of Failsafe's adaptive limiter for its queue (withQueueing).
  private static final WaitingRoom ROOM = new WaitingRoom(2, 3);

  private final LoadOptions options;
  private final Problems problems;
  private final Values values;
  private final PermitReader leaseReader;

  ConcurrencyReader(LoadOptions options, Problems problems) {
    this.options = options;
    this.problems = problems;
    this.values = new Values(problems);
    this.leaseReader = new PermitReader(options, problems);
  }

  /** Reads the field; returns {@code null} after reporting an error. */
  @Nullable ConcurrencyRule read(Field concurrency) {
    YamlNode.Mapping mapping = values.mapping(concurrency);
    if (mapping == null) {
      return null;
    }
    Fields fields = Fields.of(mapping, problems);
    Place.CONCURRENCY.check(fields, problems);
    Field algorithm = fields.get("algorithm");
    String id =
        algorithm == null ? LimitAlgorithm.PROBED_VEGAS.id() : values.choice(algorithm, ALGORITHMS);
    LimitRange range = range(fields, id == null ? null : algorithmOf(id));
    Field gated = fields.get("gate");
    String gate = gated == null ? "service" : values.choice(gated, GATES);
    if (gate == null || fields.incomplete()) {
      return null;
    }
    if (gated != null && gate.equals("envoy") && !options.steering()) {
      problems.error(
          gated.value().location(),
          "`gate: envoy` learns from access logs, which this service does not take",
          "set concurrency.access_log: true, or write gate: service");
      return null;
    }
    ConcurrencyRule.Gate read = gate.equals("envoy") ? atEnvoys(fields) : atService(fields);
    return id == null || range == null || read == null
        ? null
        : new ConcurrencyRule(algorithmOf(id), range, read);
  }

  private static LimitAlgorithm algorithmOf(String id) {
    return LimitAlgorithm.valueOf(id.toUpperCase(Locale.ROOT));
  }

  private @Nullable LimitRange range(Fields fields, @Nullable LimitAlgorithm id) {
    int min = number(fields.get("min"));
    int max = number(fields.get("max"));
    int initial = number(fields.get("initial"));
    if (id == null || min < 0 || max < 0 || initial < 0) {
      return null;
    }
    int least = min > 0 ? min : max > 0 ? id.minBelow(max) : id.min();
    int most = max > 0 ? max : min > 0 ? id.maxAbove(min, MAX_IN_FLIGHT) : id.max();
    if (least > most) {
      problems.error(
          place(fields, "min"),
          "`min` is " + least + ", above `max`, which is " + most,
          "write a smaller min, or a larger max");
      return null;
    }
    int first = initial > 0 ? initial : id.initial(least, most);
    if (first < least || first > most) {
      problems.error(
          place(fields, "initial"),
          "`initial` is "
              + first
              + ", but the concurrency limit stays from "
              + least
              + " to "
              + most,
          "write an initial between min and max, or remove it");
      return null;
    }
    warnOfStandstill(min > 0 ? fields.get("min") : fields.get("max"), least, most, min, max);
    return new LimitRange(least, most, first);
  }

  // A policy that gives one bound expects a limit that moves; one that gives both equal may mean
  // it.
  private void warnOfStandstill(@Nullable Field written, int least, int most, int min, int max) {
    if (written != null && least == most && (min == 0 || max == 0)) {
      String other = min > 0 ? "max" : "min";
      problems.warning(
          written.value().location(),
          "the concurrency limit is always %d: this %s leaves it no room to move"
              .formatted(least, Wording.quote(written.name())),
          "write " + other + ": " + least + " too if that is meant");
    }
  }

  private static SourceLocation place(Fields fields, String key) {
    Field field = fields.get(key);
    return field == null ? fields.location() : field.value().location();
  }

  /** Returns the number, 0 when the field is absent, or -1 after reporting an error. */
  private int number(@Nullable Field field) {
    return field == null ? 0 : (int) values.number(field, 1, MAX_IN_FLIGHT);
  }

  private ConcurrencyRule.@Nullable Gate atEnvoys(Fields fields) {
    String hint = "write gate: service, or remove it";
    boolean foreign = false;
    for (String key : List.of("lease", "queue", "priority")) {
      foreign |= foreign(fields.get(key), "`gate: envoy`, which admits without asking", hint);
    }
    Field named = fields.get("cluster");
    String cluster = values.text(named);
    if (cluster.isEmpty() && (named == null || named.value() instanceof YamlNode.Scalar)) {
      problems.error(
          named == null ? fields.location() : named.value().location(),
          "`gate: envoy` does not say whose max_requests it steers",
          "add cluster: NAME, as Envoy calls it");
    }
    Field breaker = fields.get("circuit_breaker");
    String priority = breaker == null ? "default" : values.choice(breaker, CIRCUIT_BREAKERS);
    return foreign || cluster.isEmpty() || priority == null
        ? null
        : new ConcurrencyRule.AtEnvoys(cluster, priority.equals("high"));
  }

  private ConcurrencyRule.@Nullable Gate atService(Fields fields) {
    String hint = "write gate: envoy, or remove it";
    boolean foreign = false;
    for (String key : List.of("cluster", "circuit_breaker")) {
      foreign |= foreign(fields.get(key), "`gate: service`", hint);
    }
    LeaseTerms lease = leaseReader.read(fields.get("lease"));
    Field queued = fields.get("queue");
    WaitingRoom queue = queue(queued);
    Field prior = fields.get("priority");
    String entry = priorityEntry(prior);
    if (entry != null && queued == null) {
      queue = ROOM; // priority levels decide admission to a queue, so there has to be one
    }
    boolean unread = (queued != null && queue == null) || (prior != null && entry == null);
    return foreign || unread || lease == null
        ? null
        : new ConcurrencyRule.AtService(lease, queue, entry);
  }

  private boolean foreign(@Nullable Field field, String with, String hint) {
    if (field != null) {
      problems.error(
          field.at(), Wording.quote(field.name()) + " has no meaning with " + with, hint);
    }
    return field != null;
  }

  private @Nullable WaitingRoom queue(@Nullable Field field) {
    YamlNode.Mapping mapping = values.mapping(field);
    if (mapping == null) {
      return null;
    }
    Fields fields = Fields.of(mapping, problems);
    Place.QUEUE.check(fields, problems);
    double initial = factor(fields.get("initial"), ROOM.initial());
    // A default must not lie below a written `initial`.
    double max = factor(fields.get("max"), Math.max(ROOM.max(), initial));
    if (initial > max && max > 0) {
      problems.error(
          place(fields, "initial"),
          "`initial` of the queue is above its `max`",
          "write a smaller initial, or a larger max");
      return null;
    }
    return initial < 0 || max < 0 ? null : new WaitingRoom(initial, max);
  }

  private double factor(@Nullable Field field, double otherwise) {
    return field == null ? otherwise : values.decimal(field, "1", MAX_FACTOR);
  }

  private @Nullable String priorityEntry(@Nullable Field field) {
    if (field != null && field.value() instanceof YamlNode.Scalar scalar) {
      boolean key = KEY.matcher(scalar.text()).matches() && !Priority.isLevel(scalar.text());
      String meant = key ? scalar.text() : "KEY";
      values.wrongType(field, "a mapping", "write priority: {entry: " + meant + "}");
      return null;
    }
    YamlNode.Mapping mapping = values.mapping(field);
    if (mapping == null) {
      return null;
    }
    Fields fields = Fields.of(mapping, problems);
    Place.PRIORITY.check(fields, problems);
    Field named = fields.get("entry");
    String entry = values.text(named);
    if (entry.isEmpty() && (named == null || named.value() instanceof YamlNode.Scalar)) {
      problems.error(
          named == null ? fields.location() : named.value().location(),
          "`priority` does not say which entry of a request names it",
          "write priority: {entry: KEY}");
    } else if (entry.equals(Rule.LEASE_ENTRY) && named != null) {
      problems.error(
          named.value().location(),
          "an entry " + Wording.quote(entry) + " gives a lease back, and names no priority",
          "choose another key");
      return null;
    }
    return entry.isEmpty() ? null : entry;
  }
}
