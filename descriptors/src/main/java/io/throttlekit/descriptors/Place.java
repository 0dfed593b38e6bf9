package io.throttlekit.descriptors;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Mappings of a policy file, each with the keys that have a meaning there. */
enum Place {
  ROOT("at the top of a file", List.of("domain", "descriptors")),
  DESCRIPTOR(
      "in a descriptor",
      List.of(
          "key",
          "value",
          "rate_limit",
          "limits",
          "concurrency",
          "descriptors",
          "shadow_mode",
          "quota_mode",
          "detailed_metric",
          "value_to_metric",
          "share_threshold",
          "metadata",
          "denied")),
  DENIED("in denied", List.of("status", "headers", "body", "metadata")),
  LIMIT(
      "in an entry of limits",
      List.of(
          "requests_per_unit",
          "unit",
          "every",
          "algorithm",
          "burst",
          "overdraft",
          "tier",
          "scope")),
  RATE_LIMIT(
      "in rate_limit",
      LIMIT.keys,
      List.of("unlimited", "name", "replaces", "on_outage", "on_data_loss", "lease")),
  /** A descriptor with {@code limits}: settings for all of them stand beside them. */
  DESCRIPTOR_WITH_LIMITS(
      "in a descriptor with limits",
      List.of(
          "name", "replaces", "overdraft", "on_outage", "on_data_loss", "tier", "lease", "scope"),
      DESCRIPTOR.keys),
  /** A descriptor with {@code concurrency}, and so without limits. */
  DESCRIPTOR_WITH_CONCURRENCY(
      "in a descriptor with concurrency", List.of("name", "replaces"), DESCRIPTOR.keys),
  REPLACES("in an entry of replaces", List.of("name")),
  LEASE("in lease", List.of("size", "window_coupled", "low_water", "return_idle_after")),
  CONCURRENCY(
      "in concurrency",
      List.of(
          "algorithm",
          "min",
          "max",
          "initial",
          "gate",
          "cluster",
          "circuit_breaker",
          "lease",
          "queue",
          "priority")),
  PERMIT_LEASE(
      "in the lease of concurrency", List.of("ttl", "release", "flush_interval", "service_time")),
  QUEUE("in queue", List.of("initial", "max")),
  PRIORITY("in priority", List.of("entry"));

  /** Keys of envoyproxy/ratelimit, which accepts each of them at any place. */
  private static final Set<String> ORIGINAL =
      Set.of(
          "domain",
          "key",
          "value",
          "descriptors",
          "rate_limit",
          "unit",
          "requests_per_unit",
          "unlimited",
          "shadow_mode",
          "quota_mode",
          "name",
          "replaces",
          "detailed_metric",
          "value_to_metric",
          "share_threshold",
          "metadata");

  // Reserved, so that a policy written for a later version fails with a clear message.
  private static final Set<String> NOT_BUILT_YET = Set.of("fair_share", "coordination");

  private final String where;

  @SuppressWarnings("ImmutableEnumChecker") // filled by the constructor, then only read
  private final Set<String> keys;

  Place(String where, Collection<String> keys) {
    this(where, keys, List.of());
  }

  Place(String where, Collection<String> keys, Collection<String> more) {
    this.where = where;
    this.keys = new LinkedHashSet<>(keys);
    this.keys.addAll(more);
  }

  /** Returns the place in words, as the end of a sentence. */
  String where() {
    return where;
  }

  /** Returns the keys that have a meaning here. */
  Set<String> keys() {
    return Collections.unmodifiableSet(keys);
  }

  /** Reports each key without a meaning here, with the place where it has one. */
  void check(Fields fields, Problems problems) {
    for (Fields.Field field : fields.all()) {
      if (!keys.contains(field.name())) {
        checkForeign(field, problems);
      }
    }
  }

  private void checkForeign(Fields.Field field, Problems problems) {
    String key = Wording.quote(field.name());
    if (NOT_BUILT_YET.contains(field.name())) {
      problems.error(field.at(), key + " is not available in this version yet", "");
    } else if (!own() && ORIGINAL.contains(field.name())) {
      problems.warning(field.at(), key + " has no effect " + where, home(field.name()));
      new UnreadKeys(problems).check(field);
    } else if (isKnown(field.name())) {
      problems.error(field.at(), key + " has no meaning " + where, home(field.name()));
      new UnreadKeys(problems).check(field);
    } else {
      problems.error(field.at(), "unknown key " + key + " " + where, suggestion(field.name()));
    }
  }

  /**
   * Returns whether envoyproxy/ratelimit has no such place. Its files cannot contain it, so a
   * misplaced key is an error here instead of a warning.
   */
  private boolean own() {
    return this == LIMIT || this == LEASE || this == DENIED || ofConcurrency();
  }

  private boolean ofConcurrency() {
    return this == CONCURRENCY || this == PERMIT_LEASE || this == QUEUE || this == PRIORITY;
  }

  private String suggestion(String written) {
    if (Wording.nearest(written, keys) == null) {
      String elsewhere = Wording.nearest(written, everyKey());
      if (elsewhere != null) {
        return "did you mean " + elsewhere + "? " + home(elsewhere);
      }
    }
    return Wording.suggest(written, keys);
  }

  private String home(String key) {
    if (this == LIMIT && key.equals("unlimited")) {
      return "unlimited stands in rate_limit, without limits";
    }
    if ((this == LIMIT || this == RATE_LIMIT) && key.equals("concurrency")) {
      return "write a descriptor of its own for it";
    }
    if (ofConcurrency() || this == DESCRIPTOR_WITH_CONCURRENCY) {
      return homeNearConcurrency(key);
    }
    if (this == LEASE && RATE_LIMIT.keys.contains(key)) {
      return "it belongs beside lease";
    }
    if (LEASE.keys.contains(key)) {
      return "it belongs in lease";
    }
    if (this == LIMIT && DESCRIPTOR_WITH_LIMITS.keys.contains(key)) {
      return "it belongs in the descriptor, beside limits, and holds for all of them";
    }
    if (ROOT.keys.contains(key) && !key.equals("descriptors")) {
      return "it belongs at the top of the file";
    }
    if (DESCRIPTOR.keys.contains(key)) {
      return this == ROOT
          ? "it belongs in an entry of descriptors"
          : "it belongs in the descriptor, beside key";
    }
    if (DENIED.keys.contains(key)) {
      return "it belongs in denied";
    }
    if (PERMIT_LEASE.keys.contains(key)) {
      return "it belongs in the lease of concurrency";
    }
    if (PRIORITY.keys.contains(key)) {
      return "it belongs in the priority of concurrency";
    }
    return RATE_LIMIT.keys.contains(key) || !CONCURRENCY.keys.contains(key)
        ? "it belongs in rate_limit"
        : "it belongs in concurrency";
  }

  private String homeNearConcurrency(String key) {
    if (ROOT.keys.contains(key) && !key.equals("descriptors")) {
      return "it belongs at the top of the file";
    }
    if (DESCRIPTOR_WITH_CONCURRENCY.keys.contains(key)) {
      return "it belongs in the descriptor, beside concurrency";
    }
    for (Place inner : List.of(CONCURRENCY, PERMIT_LEASE, PRIORITY, DENIED)) {
      if (this != inner && inner.keys.contains(key)) {
        return "it belongs " + inner.where;
      }
    }
    return "it is for rate_limit and limits";
  }

  /** Returns whether the key has a meaning at any place. */
  static boolean isKnown(String key) {
    return everyKey().contains(key);
  }

  /** Returns the keys of all places. */
  static Set<String> everyKey() {
    Set<String> every = new LinkedHashSet<>();
    for (Place place : values()) {
      every.addAll(place.keys);
    }
    every.addAll(NOT_BUILT_YET);
    return every;
  }
}
