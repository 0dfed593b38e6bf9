package io.throttlekit.descriptors;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.Fields.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the limits of a descriptor: {@code rate_limit}, {@code limits} or {@code concurrency}. */
final class RuleReader {
  private final Problems problems;
  private final Values values;
  private final LimitReader limitReader;
  private final ScopeReader scopeReader;
  private final TierReader tierReader;
  private final OutageReader outageReader;
  private final MetadataReader metadataReader;
  private final ConcurrencyReader concurrencyReader;
  private final DenialReader denialReader;

  RuleReader(LoadOptions options, Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
    this.limitReader = new LimitReader(problems);
    this.scopeReader = new ScopeReader(options, problems);
    this.tierReader = new TierReader(problems);
    this.outageReader = new OutageReader(problems);
    this.metadataReader = new MetadataReader(problems);
    this.concurrencyReader = new ConcurrencyReader(options, problems);
    this.denialReader = new DenialReader(problems);
  }

  /** Reads the rule of a descriptor; {@code null} when it has none, or after reporting an error. */
  @Nullable RuleSpec read(Fields descriptor) {
    Field single = descriptor.get("rate_limit");
    Field several = descriptor.get("limits");
    Field concurrency = descriptor.get("concurrency");
    Map<String, Object> metadata = metadata(descriptor);
    Field unsaid = descriptor.empty("concurrency");
    if (unsaid != null) {
      problems.error(unsaid.at(), "`concurrency` is empty", "write {} for the defaults");
    }
    if (concurrency != null && (single != null || several != null)) {
      problems.error(
          concurrency.at(),
          "a descriptor has either `concurrency` or "
              + (several != null ? "`limits`" : "`rate_limit`")
              + ", not both",
          "move one of them into a descriptor of its own: a request may reach both");
      var _ = concurrencyReader.read(concurrency); // only to report its errors
    }
    if (single != null && several != null) {
      problems.error(
          several.at(),
          "a descriptor has either `rate_limit` or `limits`, not both",
          "move the limit of rate_limit into limits");
    }
    if (several != null) {
      if (single != null) {
        var _ = ofSingle(descriptor, single, metadata); // only to report its errors
      }
      return ofSeveral(descriptor, several, metadata);
    }
    if (single != null) {
      return ofSingle(descriptor, single, metadata);
    }
    if (concurrency != null) {
      return ofConcurrency(descriptor, concurrency, metadata);
    }
    if (unsaid == null) {
      warnOfFlagsWithoutLimit(descriptor);
    }
    return null;
  }

  private @Nullable RuleSpec ofSingle(
      Fields descriptor, Field single, @Nullable Map<String, Object> metadata) {
    YamlNode.Mapping mapping = values.mapping(single);
    if (mapping == null) {
      return null;
    }
    Fields fields = Fields.of(mapping, problems);
    Place.RATE_LIMIT.check(fields, problems);
    if (values.flag(fields.get("unlimited"))) {
      checkUnlimited(fields);
      warnOfDenial(descriptor, "beside `unlimited`");
      return rule(descriptor, single, fields, List.of(), false, null, Sharing.NOTHING, metadata);
    }
    LimitSpec limit = limitReader.read(fields);
    boolean overdraft = values.flag(fields.get("overdraft"));
    List<LimitSpec> limits = limit == null ? List.of() : List.of(limit);
    Scope scope = scopeReader.read(fields, List.of(fields));
    Sharing sharing = tierReader.read(scope, fields, List.of(fields), limits);
    return rule(descriptor, single, fields, limits, overdraft, scope, sharing, metadata);
  }

  private @Nullable RuleSpec ofConcurrency(
      Fields descriptor, Field concurrency, @Nullable Map<String, Object> metadata) {
    ConcurrencyRule inFlight = concurrencyReader.read(concurrency);
    Denial denial = denialReader.read(descriptor.get("denied"));
    String name = values.text(descriptor.get("name"));
    List<RuleSpec.Replacement> replaces = replaces(descriptor, name);
    Field shadowed = descriptor.get("shadow_mode");
    boolean shadow = values.flag(shadowed);
    if (inFlight != null && inFlight.gate() instanceof ConcurrencyRule.AtEnvoys) {
      warnOfDenial(descriptor, "with gate envoy, where Envoy itself refuses");
      if (shadowed != null && shadow) {
        problems.error(
            shadowed.at(),
            "`shadow_mode` has no meaning with `gate: envoy`: what is pushed to Envoys is obeyed",
            "remove it, or write gate: service");
      }
    }
    Field quota = descriptor.get("quota_mode");
    if (quota != null && values.flag(quota)) {
      problems.error(
          quota.at(),
          "`quota_mode` has no meaning with concurrency: what is in flight is nobody's quota",
          "remove it");
    }
    return inFlight == null
        ? null
        : new RuleSpec(
            concurrency.at(),
            false,
            List.of(),
            name,
            replaces,
            shadow,
            false,
            false,
            Sharing.NOTHING,
            OnOutage.ERROR,
            DataLoss.REFILL,
            metadata,
            inFlight,
            denial);
  }

  private @Nullable RuleSpec ofSeveral(
      Fields descriptor, Field several, @Nullable Map<String, Object> metadata) {
    List<YamlNode.Mapping> entries = values.mappings(several);
    if (several.value() instanceof YamlNode.Sequence list && list.items().isEmpty()) {
      problems.error(several.at(), "`limits` is empty", "add a limit, or remove the key");
    }
    Map<String, SourceLocation> windows = new LinkedHashMap<>();
    List<LimitSpec> limits = new ArrayList<>();
    List<Fields> own = new ArrayList<>();
    for (YamlNode.Mapping entry : entries) {
      Fields fields = Fields.of(entry, problems);
      Place.LIMIT.check(fields, problems);
      LimitSpec limit = limitReader.read(fields);
      if (limit != null) {
        limits.add(limit);
        checkDistinct(limit, fields, windows);
      }
      own.add(fields);
    }
    boolean overdraft = overdraft(descriptor, own);
    Scope scope = scopeReader.read(descriptor, own);
    Sharing sharing = tierReader.read(scope, descriptor, own, limits);
    return rule(descriptor, several, descriptor, limits, overdraft, scope, sharing, metadata);
  }

  /**
   * Reads the value of the limits, or else of their descriptor; they are charged as one, so it must
   * be the same.
   */
  private boolean overdraft(Fields descriptor, List<Fields> limits) {
    boolean beside = values.flag(descriptor.get("overdraft"));
    boolean first = beside;
    for (int i = 0; i < limits.size(); i++) {
      Field said = limits.get(i).get("overdraft");
      boolean overdraws = said == null ? beside : values.flag(said);
      if (i > 0 && overdraws != first) {
        problems.error(
            said == null ? limits.get(i).location() : said.at(),
            "the limits of one descriptor are charged as one, so `overdraft` must be the same",
            "write it once, beside limits");
      }
      first = i == 0 ? overdraws : first;
    }
    return first;
  }

  private void checkDistinct(LimitSpec limit, Fields fields, Map<String, SourceLocation> windows) {
    String window = limit.algorithm().id() + " over " + limit.windowMillis() + " ms";
    SourceLocation first = windows.putIfAbsent(window, fields.location());
    if (first != null) {
      problems.error(
          fields.location(),
          "two limits share one counter, " + window + ": the other is at " + first,
          "keep the smaller of them, or change a window or an algorithm");
    }
  }

  private @Nullable RuleSpec rule(
      Fields descriptor,
      Field declared,
      Fields own,
      List<LimitSpec> limits,
      boolean overdraft,
      @Nullable Scope scope,
      @Nullable Sharing sharing,
      @Nullable Map<String, Object> metadata) {
    String name = values.text(own.get("name"));
    List<RuleSpec.Replacement> replaces = replaces(own, name);
    OnOutage onOutage = outageReader.onOutage(own.get("on_outage"), scope);
    DataLoss onDataLoss = outageReader.onDataLoss(own.get("on_data_loss"));
    Denial denial = denialReader.read(descriptor.get("denied"));
    boolean shadow = values.flag(descriptor.get("shadow_mode"));
    boolean quota = values.flag(descriptor.get("quota_mode"));
    boolean unlimited = declared.name().equals("rate_limit") && values.flag(own.get("unlimited"));
    if (sharing == null || (!unlimited && limits.isEmpty())) {
      return null;
    }
    return new RuleSpec(
        declared.at(),
        unlimited,
        limits,
        name,
        replaces,
        shadow,
        quota,
        overdraft,
        sharing,
        onOutage,
        onDataLoss,
        metadata,
        null,
        denial);
  }

  private List<RuleSpec.Replacement> replaces(Fields own, String name) {
    List<RuleSpec.Replacement> replaces = new ArrayList<>();
    for (YamlNode.Mapping entry : values.mappings(own.get("replaces"))) {
      Fields fields = Fields.of(entry, problems);
      Place.REPLACES.check(fields, problems);
      Field named = fields.get("name");
      String replaced = values.text(named);
      if (replaced.isEmpty()
          && (named == null ? !fields.incomplete() : named.value() instanceof YamlNode.Scalar)) {
        problems.error(
            fields.location(), "an entry of `replaces` names no rule", "write - name: RULE");
      } else if (replaced.equals(name) && named != null) {
        problems.error(
            named.value().location(),
            "the rule " + Wording.quote(name) + " replaces itself",
            "name another rule");
      }
      SourceLocation at = named == null ? fields.location() : named.value().location();
      replaces.add(new RuleSpec.Replacement(at, replaced));
    }
    return replaces;
  }

  private void checkUnlimited(Fields fields) {
    for (String key :
        List.of("every", "algorithm", "burst", "overdraft", "tier", "lease", "scope")) {
      Field field = fields.get(key);
      if (field != null) {
        problems.error(
            field.at(), "`unlimited` and " + Wording.quote(key) + " contradict each other", "");
      }
    }
    Field unit = fields.get("unit");
    if (unit != null && LimitReader.isUnit(values.text(unit))) {
      problems.error(
          unit.at(), "`unlimited` and `unit` contradict each other", "remove one of them");
    } else if (unit != null) {
      problems.warning(unit.at(), "`unit` has no effect beside `unlimited`", "remove it");
    }
    for (String key : List.of("on_outage", "on_data_loss")) {
      Field field = fields.get(key);
      if (field != null) {
        problems.warning(
            field.at(), Wording.quote(key) + " has no effect beside `unlimited`", "remove it");
      }
    }
    Field requests = fields.get("requests_per_unit");
    // The range is that of a uint32, as in Envoy's protocol.
    if (requests != null && values.number(requests, 4_294_967_295L) >= 0) {
      problems.warning(
          requests.at(), "`requests_per_unit` has no effect beside `unlimited`", "remove it");
    }
  }

  private @Nullable Map<String, Object> metadata(Fields descriptor) {
    YamlNode.Mapping mapping = values.mapping(descriptor.get("metadata"));
    return mapping == null ? null : metadataReader.read(mapping);
  }

  private void warnOfDenial(Fields descriptor, String where) {
    Field denied = descriptor.get("denied");
    if (denied != null) {
      problems.warning(denied.at(), "`denied` has no effect " + where, "remove it");
    }
  }

  private void warnOfFlagsWithoutLimit(Fields descriptor) {
    var _ = denialReader.read(descriptor.get("denied")); // only to report its errors
    for (String key : List.of("shadow_mode", "quota_mode", "metadata", "denied")) {
      Field field = descriptor.get(key);
      boolean flag = key.endsWith("_mode");
      if (field != null && (!flag || values.flag(field))) {
        problems.warning(
            field.at(),
            Wording.quote(key) + " has no effect on a descriptor without a limit",
            "add rate_limit here, or move it to the descriptor that has one");
      }
    }
  }
}
