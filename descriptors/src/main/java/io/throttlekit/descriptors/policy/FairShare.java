package io.throttlekit.descriptors.policy;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Division of a rule's limit among tenants, by weight. Immutable and thread-safe.
 *
 * <p>Weights are whole thousandths, so that sums and shares of them are exact in integers. The unit
 * is the same for all policies: a reload that adds a fractional weight leaves the others as they
 * are.
 *
 * @param tenantEntry key of the entry whose value is the tenant; a request without it does not
 *     reach the rule
 * @param weightEntry key of the entry whose value selects a weight; null where the tenant does
 * @param weights listed weights, by tenant or by value of the weight entry; in the policy's order
 * @param defaultWeight weight of tenants without a listed one
 * @param maxTenants most tenants that are distinguished at a time, from 1
 * @param unlistedMillionths the most that all tenants without a listed weight are guaranteed
 *     together while tenants with one are active, in millionths of the limit, from 0 to 1,000,000
 */
public record FairShare(
    String tenantEntry,
    @Nullable String weightEntry,
    Map<String, Weight> weights,
    Weight defaultWeight,
    int maxTenants,
    int unlistedMillionths) {

  /** The whole limit, in millionths. */
  public static final int ALL = 1_000_000;

  /** Copies the weights. */
  public FairShare {
    weights = Collections.unmodifiableMap(new LinkedHashMap<>(weights));
  }

  /**
   * Weight of a tenant.
   *
   * @param inThousandths from 1 to 10^9; listed if the policy lists it, and it is not the default
   *     of all others
   */
  public record Weight(TenantWeight inThousandths) {
    /** Creates a weight of so many thousandths, see {@link #inThousandths}. */
    public Weight(long thousandths, boolean listed) {
      this(new TenantWeight(thousandths, listed));
    }

    /** Returns the weight in thousandths. */
    public long thousandths() {
      return inThousandths.value();
    }

    /** Returns whether the policy lists it. */
    public boolean listed() {
      return inThousandths.listed();
    }

    /** Returns the weight as policies write it: {@code 2.5}. */
    @Override
    public String toString() {
      return BigDecimal.valueOf(thousandths(), 3).stripTrailingZeros().toPlainString();
    }
  }

  /** Returns how tenants share a limit of so many units per window. */
  FairTerms terms(long limit, long windowMillis) {
    return new FairTerms(limit, windowMillis, 1, unlistedMillionths, maxTenants);
  }

  /** Returns the weight that a tenant or a value of the weight entry selects. */
  public Weight weightOf(String selector) {
    Weight weight = weights.get(selector);
    return weight == null ? defaultWeight : weight;
  }

  /** Returns the sum of the listed weights, in thousandths. */
  public long listedThousandths() {
    return weights.values().stream().mapToLong(Weight::thousandths).sum();
  }

  /**
   * Returns what all tenants without a listed weight are guaranteed together at most: everything
   * where no weight is listed.
   *
   * @param limit units, below 2^43
   */
  public long unlistedUnits(long limit) {
    return weights.isEmpty() ? limit : Math.multiplyExact(limit, unlistedMillionths) / ALL;
  }

  /**
   * Returns what a tenant is guaranteed beside one tenant of each listed weight. Where {@link
   * #weights} are by tenant, and its own is listed, this is a lower bound, however many other
   * tenants there are.
   *
   * @param limit units, below 2^32
   */
  public long guarantee(Weight weight, long limit) {
    long listed = listedThousandths();
    if (weight.listed()) {
      // Others are sure to have left (1 - s) * limit, rounded down as the engine does.
      long units = Math.multiplyExact(limit, ALL - unlistedMillionths) / ALL;
      return Math.multiplyExact(weight.thousandths(), units) / listed;
    }
    long proportion =
        Math.multiplyExact(weight.thousandths(), limit) / (listed + weight.thousandths());
    return Math.min(proportion, unlistedUnits(limit));
  }

  /** Returns the index of the tenant's key among the entries that follow the rule's own. */
  int tenantAt(String[] entries, int from) {
    int at = indexOf(tenantEntry, entries, from);
    if (at < 0) {
      throw new IllegalArgumentException("no entry names the tenant: " + tenantEntry);
    }
    return at;
  }

  /**
   * Returns the weight that the entries which follow the rule's own select.
   *
   * @param tenantAt the tenant's place
   */
  Weight weight(String[] entries, int from, int tenantAt) {
    if (weightEntry == null) {
      return weightOf(entries[tenantAt + 1]);
    }
    int at = indexOf(weightEntry, entries, from);
    return at < 0 ? defaultWeight : weightOf(entries[at + 1]);
  }

  private static int indexOf(String key, String[] entries, int from) {
    for (int i = from; i < entries.length; i += 2) {
      if (entries[i].equals(key)) {
        return i;
      }
    }
    return -1;
  }
}
