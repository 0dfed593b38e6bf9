package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.FairShare.Weight;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the division of a limit among tenants: the mapping {@code fair_share}.
 *
 * @param path keys of the descriptors that lead to the rule
 */
record FairShareReader(PolicySection share, List<String> path) {
  // A decision looks at each distinct weight of active tenants.
  private static final int MAX_WEIGHTS = 64;

  /** Text that looks like an entry's key and needs no quotes in YAML; used for hints only. */
  private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,59}");

  /**
   * Reads the section; returns {@code null} when there is none, or after reporting an error.
   *
   * @param beside section with the key {@code fair_share}
   * @param limits units of the limits that are divided, to warn of guarantees that can be 0
   */
  static @Nullable FairShare read(PolicySection beside, List<String> path, List<Long> limits) {
    Fields.Field unset = beside.fields().empty("fair_share");
    if (unset != null) {
      beside
          .problems()
          .error(unset.at(), "`fair_share` is empty", "write fair_share: {tenant: KEY}");
      return null;
    }
    Fields.Field field = beside.get("fair_share");
    YamlNode.Scalar scalar = field == null ? null : field.scalar();
    if (field != null && scalar != null) {
      String key = KEY.matcher(scalar.text()).matches() ? scalar.text() : "KEY";
      beside.wrongType(field, "a mapping", "write fair_share: {tenant: " + key + "}");
      return null;
    }
    PolicySection section = beside.section("fair_share");
    if (section == null) {
      return null;
    }
    FairShare share = new FairShareReader(section, path).read();
    if (share != null) {
      new GuaranteeCheck(section, share).warn(limits);
    }
    return share;
  }

  private @Nullable FairShare read() {
    String tenant = entry("tenant", share.required("tenant"), "tenant");
    if (share.has("weight_entry") && share.lacks("weight_entry")) {
      share.error("weight_entry", "`weight_entry` is empty", "write a key, or remove it");
    }
    String weightEntry = entry("weight_entry", share.text("weight_entry"), "weight");
    if (tenant != null && tenant.equals(weightEntry)) {
      share.error(
          "weight_entry",
          "`tenant` and `weight_entry` are the same entry " + Wording.quote(tenant),
          "remove weight_entry: weights are by tenant then");
    }
    Weight defaultWeight = weight(share.exact("default_weight"), false);
    Map<String, Weight> weights = weights(defaultWeight);
    int maxTenants = (int) share.number("max_tenants");
    BigDecimal unlisted = share.exact("unlisted_share");
    if (weights == null || defaultWeight == null || maxTenants < 0 || unlisted == null) {
      return null;
    }
    boolean byTenant = !share.has("weight_entry");
    if (!byTenant && weights.isEmpty() && !share.mayMean("weights")) {
      share.errorAtKey(
          "weight_entry",
          "`weight_entry` selects from `weights`, and there are none",
          "add weights: {VALUE: WEIGHT}, or remove it");
    }
    if (byTenant && weights.size() > maxTenants) {
      share.error(
          "max_tenants",
          "`weights` lists %d tenants, more than `max_tenants`, which is %d"
              .formatted(weights.size(), maxTenants),
          "write a larger max_tenants");
    }
    return tenant == null
        ? null
        : new FairShare(
            tenant,
            weightEntry,
            weights,
            defaultWeight,
            maxTenants,
            unlisted.movePointRight(6).intValueExact());
  }

  /** Returns the key of an entry that may follow those of the rule; null after an error. */
  private @Nullable String entry(String key, String entry, String named) {
    if (entry.isEmpty()) {
      return null;
    }
    StreamDoneEntry reserved = StreamDoneEntry.of(entry);
    if (reserved != null) {
      share.error(
          key,
          "an entry %s %s a permit, and names no %s"
              .formatted(Wording.quote(entry), reserved.effect(), named),
          "choose another key");
      return null;
    }
    if (path.contains(entry)) {
      share.error(
          key,
          "the entry %s leads to this limit, so that each of its values has a limit of its own"
              .formatted(Wording.quote(entry)),
          "name another entry, which follows those of the descriptor");
      return null;
    }
    return entry;
  }

  /** Returns the listed weights; null after reporting an error. */
  private @Nullable Map<String, Weight> weights(@Nullable Weight defaultWeight) {
    if (!share.has("weights")) {
      return Map.of();
    }
    YamlNode.Mapping written = share.mapping("weights");
    if (written == null) {
      return null;
    }
    Fields fields = Fields.of(written, share.problems());
    boolean unread = fields.incomplete();
    Map<String, Weight> weights = new LinkedHashMap<>();
    Set<Long> distinct = new HashSet<>();
    if (defaultWeight != null) {
      distinct.add(defaultWeight.thousandths());
    }
    for (Fields.Field field : fields.all()) {
      Weight weight = weight(share.exact("default_weight", field), true);
      if (weight == null) {
        unread = true;
      } else {
        weights.put(field.name(), weight);
        distinct.add(weight.thousandths());
      }
    }
    if (distinct.size() > MAX_WEIGHTS) {
      share.errorAtKey(
          "weights",
          "there are %d different weights, with the default; at most %d are possible"
              .formatted(distinct.size(), MAX_WEIGHTS),
          "give tenants that are nearly equal the same weight");
    }
    return unread ? null : weights;
  }

  private static @Nullable Weight weight(@Nullable BigDecimal number, boolean listed) {
    return number == null ? null : new Weight(number.movePointRight(3).longValueExact(), listed);
  }
}
