package io.throttlekit.descriptors.load;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.LimitSpec;
import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.RuleSpec;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.descriptors.policy.Sharing;
import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the limits of a descriptor: {@code rate_limit}, {@code limits} or {@code concurrency}.
 *
 * @param path keys of the descriptors that lead to it, with its own
 */
record RuleReader(LoadOptions options, Problems problems, List<String> path) {
  /** Reads the rule of a descriptor; {@code null} when it has none, or after reporting an error. */
  @Nullable RuleSpec read(PolicySection descriptor) {
    boolean single = descriptor.has("rate_limit");
    boolean several = descriptor.has("limits");
    boolean concurrency = descriptor.has("concurrency");
    Field unset = descriptor.fields().empty("concurrency");
    var _ = metadata(descriptor); // to report its errors where there is no rule
    if (unset != null) {
      problems.error(unset.at(), "`concurrency` is empty", "write {} for the defaults");
    }
    if (concurrency && (single || several)) {
      descriptor.errorAtKey(
          "concurrency",
          "a descriptor has either `concurrency` or %s, not both"
              .formatted(several ? "`limits`" : "`rate_limit`"),
          "move one of them into a descriptor of its own: a request may reach both");
      // Only to report its errors.
      var _ = ConcurrencyReader.read(descriptor.section("concurrency"), options);
    }
    if (single && several) {
      descriptor.errorAtKey(
          "limits",
          "a descriptor has either `rate_limit` or `limits`, not both",
          "move the limit of rate_limit into limits");
      var _ = ofSingle(descriptor); // only to report its errors
    }
    if (several) {
      return ofSeveral(descriptor);
    }
    if (single) {
      return ofSingle(descriptor);
    }
    if (concurrency) {
      return ofConcurrency(descriptor);
    }
    boolean unread = Stream.of("rate_limit", "limits", "concurrency").anyMatch(descriptor::mayMean);
    if (unset == null && !unread) {
      warnOfFlagsWithoutLimit(descriptor);
    }
    return null;
  }

  private @Nullable RuleSpec ofSingle(PolicySection descriptor) {
    PolicySection limit = descriptor.section("rate_limit");
    if (limit == null) {
      return null;
    }
    SourceLocation at = descriptor.at("rate_limit");
    if (!limit.flag("unlimited")) {
      LimitSpec read = LimitReader.read(limit);
      warnOfCalendarUnit(List.of(limit));
      List<LimitSpec> limits = read == null ? List.of() : List.of(read);
      return limited(descriptor, new LimitGroup(limit, List.of(limit)), at, limits);
    }
    checkUnlimited(limit);
    descriptor.ignore("denied", "beside `unlimited`", "remove it");
    OnOutage onOutage = TierReader.onOutage(limit, null);
    DataLoss onDataLoss = TierReader.onDataLoss(limit);
    Sharing sharing =
        new Sharing(Scope.REGION, Sharing.NOTHING.tier(), false, onOutage, onDataLoss);
    return rule(descriptor, limit, at, List.of(), sharing, null, null);
  }

  private @Nullable RuleSpec ofSeveral(PolicySection descriptor) {
    List<PolicySection> entries = descriptor.sections("limits");
    SourceLocation at = descriptor.at("limits");
    if (Objects.requireNonNull(descriptor.get("limits")).value() instanceof YamlNode.Sequence list
        && list.items().isEmpty()) {
      descriptor.errorAtKey("limits", "`limits` is empty", "add a limit, or remove the key");
    }
    Map<String, SourceLocation> windows = new LinkedHashMap<>();
    List<LimitSpec> limits = new ArrayList<>();
    for (PolicySection entry : entries) {
      LimitSpec limit = LimitReader.read(entry);
      if (limit != null) {
        limits.add(limit);
        checkDistinct(limit, entry, windows);
      }
    }
    warnOfCalendarUnit(entries);
    return limited(descriptor, new LimitGroup(descriptor, entries), at, limits);
  }

  /** Warns once of a rule whose window seems to be one of the calendar. */
  private void warnOfCalendarUnit(List<PolicySection> limits) {
    if (options.standsIn()) {
      return; // envoyproxy/ratelimit counts them so too, and has no other way to write them
    }
    for (PolicySection limit : limits) {
      int days =
          switch (limit.text("unit").toLowerCase(Locale.ROOT)) {
            case "month" -> 30;
            case "year" -> 365;
            default -> 0;
          };
      if (days > 0) {
        String unit = limit.text("unit").toLowerCase(Locale.ROOT);
        limit.warning(
            "unit",
            "a %s is %d days counted from 1970-01-01 UTC, not one of the calendar"
                .formatted(unit, days),
            "write every: " + days + "d if that is meant");
        return;
      }
    }
  }

  // After an error some parts are defaults; the load gives no policies then.
  private @Nullable RuleSpec limited(
      PolicySection descriptor, LimitGroup group, SourceLocation at, List<LimitSpec> limits) {
    Scope scope = TierReader.scope(group, options.federated());
    Sharing sharing = TierReader.read(scope, group, limits);
    List<Long> units = limits.stream().map(LimitSpec::requestsPerUnit).toList();
    FairShare share = FairShareReader.read(group.beside(), path, units);
    boolean divisible = share != null && TierReader.isDivisible(sharing, group);
    return rule(
        descriptor,
        group.beside(),
        at,
        limits,
        sharing,
        null,
        divisible && !limits.isEmpty() ? share : null);
  }

  private @Nullable RuleSpec ofConcurrency(PolicySection descriptor) {
    ConcurrencyRule read = ConcurrencyReader.read(descriptor.section("concurrency"), options);
    if (read != null && read.gate() instanceof ConcurrencyRule.AtEnvoys) {
      descriptor.ignore("denied", "with gate envoy, where Envoy itself refuses", "remove it");
      refuseMode(
          descriptor,
          "shadow_mode",
          "`gate: envoy`: Envoys apply what is pushed to them",
          "remove it, or write gate: service");
    }
    refuseMode(
        descriptor, "quota_mode", "concurrency: requests in flight have no quota", "remove it");
    SourceLocation at = descriptor.at("concurrency");
    FairShare share = concurrencyShare(descriptor.section("concurrency"), read);
    RuleSpec rule = rule(descriptor, descriptor, at, List.of(), Sharing.NOTHING, read, share);
    return read == null ? null : rule;
  }

  /** Returns how tenants share a concurrency limit; null if they do not, or after an error. */
  private @Nullable FairShare concurrencyShare(
      @Nullable PolicySection concurrency, @Nullable ConcurrencyRule read) {
    if (concurrency == null) {
      return null;
    }
    List<Long> units = read == null ? List.of() : List.of((long) read.range().max());
    FairShare share = FairShareReader.read(concurrency, path, units);
    return read == null ? null : share;
  }

  private static void refuseMode(PolicySection descriptor, String mode, String with, String hint) {
    if (descriptor.flag(mode)) {
      var _ = descriptor.refuse(mode, with, hint);
    }
  }

  private void checkDistinct(
      LimitSpec limit, PolicySection entry, Map<String, SourceLocation> windows) {
    String window = limit.algorithm().id() + " over " + limit.windowMillis() + " ms";
    SourceLocation first = windows.putIfAbsent(window, entry.location());
    if (first != null) {
      problems.error(
          entry.location(),
          "two limits share one counter, " + window + ": the other is at " + first,
          "keep the smaller of them, or change a window or an algorithm");
    }
  }

  /**
   * Returns the rule.
   *
   * @param beside the section with name and replacements
   */
  private RuleSpec rule(
      PolicySection descriptor,
      PolicySection beside,
      SourceLocation at,
      List<LimitSpec> limits,
      Sharing sharing,
      @Nullable ConcurrencyRule concurrency,
      @Nullable FairShare share) {
    String name = beside.text("name");
    return new RuleSpec(
        at,
        limits,
        name,
        replaces(beside, name),
        descriptor.flag("shadow_mode"),
        descriptor.flag("quota_mode"),
        sharing,
        metadata(descriptor),
        concurrency,
        DenialReader.read(descriptor.section("denied")),
        share);
  }

  private List<RuleSpec.Replacement> replaces(PolicySection beside, String name) {
    List<RuleSpec.Replacement> replaces = new ArrayList<>();
    for (PolicySection entry : beside.sections("replaces")) {
      String replaced = entry.text("name");
      if (entry.lacks("name")) {
        problems.error(
            entry.location(), "an entry of `replaces` names no rule", "write - name: RULE");
      } else if (replaced.equals(name) && entry.has("name")) {
        entry.error(
            "name", "the rule " + Wording.quote(name) + " replaces itself", "name another rule");
      }
      replaces.add(new RuleSpec.Replacement(entry.valueAt("name"), replaced));
    }
    return replaces;
  }

  private static void checkUnlimited(PolicySection limit) {
    for (String key :
        List.of(
            "every", "algorithm", "burst", "overdraft", "tier", "lease", "scope", "fair_share")) {
      if (limit.has(key)) {
        limit.errorAtKey(
            key, "`unlimited` and " + Wording.quote(key) + " contradict each other", "");
      }
    }
    boolean known = limit.words("unit").contains(limit.text("unit").toLowerCase(Locale.ROOT));
    if (known) {
      limit.errorAtKey(
          "unit", "`unlimited` and `unit` contradict each other", "remove one of them");
    }
    boolean misread = limit.number("requests_per_unit") < 0;
    for (String key : List.of("unit", "on_outage", "on_data_loss", "requests_per_unit")) {
      boolean reported = key.equals("unit") ? known : key.equals("requests_per_unit") && misread;
      if (!reported) {
        limit.ignore(key, "beside `unlimited`", "remove it");
      }
    }
  }

  private @Nullable Map<String, Object> metadata(PolicySection descriptor) {
    return MetadataReader.read(descriptor.mapping("metadata"), problems);
  }

  private void warnOfFlagsWithoutLimit(PolicySection descriptor) {
    var _ = DenialReader.read(descriptor.section("denied")); // only to report its errors
    for (String key : List.of("shadow_mode", "quota_mode", "metadata", "denied")) {
      if (!key.endsWith("_mode") || descriptor.flag(key)) {
        descriptor.ignore(
            key,
            "on a descriptor without a limit",
            "add rate_limit here, or move it to the descriptor that has one");
      }
    }
  }
}
