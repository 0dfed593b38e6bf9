package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import io.throttlekit.tier.Tier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads how a rule is shared by the processes of a fleet, {@code tier} and {@code lease}, and
 * reports what does not go with that.
 */
final class TierReader {
  private static final String STRICT = "strict";
  private static final String LEASED = "leased";
  private static final List<String> TIERS = List.of(STRICT, "cached_deny", LEASED);
  private static final Tier EXACT = new Tier.Strict();

  private final Problems problems;
  private final Values values;
  private final LeaseReader leaseReader;

  TierReader(Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
    this.leaseReader = new LeaseReader(problems);
  }

  /**
   * The tier of a rule; null where it names none, and strict after reporting an error.
   *
   * @param own what holds for all limits: {@code rate_limit}, or the descriptor of {@code limits}
   * @param written the mapping of each limit, which is {@code own} for {@code rate_limit}
   * @param limits those of them that could be read
   */
  @Nullable Tier read(Fields own, List<Fields> written, List<LimitSpec> limits) {
    String tier = name(own, written);
    Field lease = own.get("lease");
    Tier.Leased leased = leaseReader.read(lease, LEASED.equals(tier) ? limits : List.of());
    if (tier == null) {
      return EXACT;
    }
    if (lease != null && !tier.equals(LEASED)) {
      boolean named = isNamed(own, written);
      problems.error(
          lease.at(),
          "`lease` has no meaning with tier " + tier + (named ? "" : ", the default"),
          (named ? "write" : "add") + " tier: leased, or remove it");
    }
    if (tier.equals(STRICT)) {
      return isNamed(own, written) ? EXACT : null;
    }
    if (anyOverdraft(tier, own, written)) {
      return EXACT;
    }
    if (tier.equals(LEASED)) {
      return anyOtherThanFixedWindow(written) ? EXACT : leased;
    }
    return new Tier.CachedDeny();
  }

  /** What the limits, or else {@code own}, say; {@code null} when that is not known. */
  private @Nullable String name(Fields own, List<Fields> written) {
    String beside = name(own, STRICT);
    String first = beside;
    boolean differ = false;
    for (int i = 0; i < written.size(); i++) {
      Fields limit = written.get(i);
      String tier = name(limit, beside);
      if (i > 0 && tier != null && first != null && !tier.equals(first)) {
        differ = true;
        Field said = limit.get("tier");
        problems.error(
            said == null ? limit.location() : said.at(),
            "the limits of one descriptor are charged as one, so `tier` must be the same",
            "write it once, beside limits");
      }
      first = i == 0 ? tier : first;
    }
    return differ ? null : first;
  }

  private static boolean isNamed(Fields own, List<Fields> written) {
    return own.get("tier") != null || written.stream().anyMatch(limit -> limit.get("tier") != null);
  }

  private @Nullable String name(Fields fields, @Nullable String otherwise) {
    Field said = fields.get("tier");
    if (said != null) {
      return values.choice(said, TIERS);
    }
    return fields.incomplete() ? null : otherwise;
  }

  private boolean anyOverdraft(String tier, Fields own, List<Fields> written) {
    List<Fields> places = new ArrayList<>(written);
    places.add(own);
    boolean any = false;
    for (Fields place : places) {
      Field overdraft = place.get("overdraft");
      if (overdraft != null && values.flag(overdraft)) {
        any = true;
        problems.error(
            overdraft.at(),
            "`overdraft` has no meaning with tier " + tier,
            "write tier: strict, or remove it");
      }
    }
    return any;
  }

  private boolean anyOtherThanFixedWindow(List<Fields> written) {
    boolean any = false;
    for (Fields limit : written) {
      Field algorithm = limit.get("algorithm");
      String name = algorithm == null ? null : values.choice(algorithm, LimitReader.ALGORITHMS);
      if (algorithm != null && name != null && !name.equals(LimitReader.FIXED_WINDOW)) {
        any = true;
        problems.error(
            algorithm.value().location(),
            "`tier: leased` is for fixed_window only, but the algorithm is " + name,
            "write tier: strict or tier: cached_deny, or remove the algorithm");
      }
    }
    return any;
  }
}
