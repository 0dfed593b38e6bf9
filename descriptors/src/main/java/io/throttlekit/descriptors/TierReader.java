package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import io.throttlekit.tier.Tier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads how the processes of a fleet share a rule, {@code tier} and {@code lease}, and reports
 * settings that conflict with it.
 */
final class TierReader {
  private static final String STRICT = "strict";
  private static final String LEASED = "leased";
  private static final String CACHED_DENY = "cached_deny";
  private static final List<String> TIERS = List.of(STRICT, CACHED_DENY, LEASED);

  private final Problems problems;
  private final Values values;
  private final CommonWord word;
  private final LeaseReader leaseReader;

  TierReader(Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
    this.word = new CommonWord("tier", TIERS, problems);
    this.leaseReader = new LeaseReader(problems);
  }

  /**
   * Reads the tier of a rule, which may be none, together with its scope; {@code null} after
   * reporting an error.
   *
   * @param scope {@code null} when it is not known
   * @param own fields that hold for all limits: {@code rate_limit}, or the descriptor of {@code
   *     limits}
   * @param written the mapping of each limit, which is {@code own} for {@code rate_limit}
   * @param limits those of them that could be read
   */
  @Nullable Sharing read(
      @Nullable Scope scope, Fields own, List<Fields> written, List<LimitSpec> limits) {
    if (scope == Scope.GLOBAL) {
      return global(own, written, limits);
    }
    String tier = word.read(own, written, scope == null ? null : STRICT);
    Field lease = own.get("lease");
    Tier.Leased leased =
        leaseReader.read(lease, Scope.REGION, LEASED.equals(tier) ? limits : List.of());
    if (tier == null) {
      return null;
    }
    if (lease != null && !tier.equals(LEASED)) {
      boolean named = word.isNamed(own, written);
      problems.error(
          lease.at(),
          "`lease` has no meaning with tier " + tier + (named ? "" : ", the default"),
          (named ? "write" : "add") + " tier: leased, or remove it");
    }
    if (tier.equals(STRICT)) {
      return word.isNamed(own, written)
          ? new Sharing(Scope.REGION, new Tier.Strict())
          : Sharing.DEFAULT;
    }
    String remedy = "write tier: strict, or remove it";
    if (anyOverdraft("tier " + tier, remedy, own, written)) {
      return null;
    }
    if (tier.equals(CACHED_DENY)) {
      return new Sharing(Scope.REGION, new Tier.CachedDeny());
    }
    String others = "write tier: strict or tier: cached_deny, or remove the algorithm";
    return anyOtherThanFixedWindow("tier: leased", others, written)
        ? null
        : new Sharing(Scope.REGION, leased);
  }

  /**
   * Reads limits that regions share. They are always leased by the window, whether or not the
   * policy names the tier.
   */
  private @Nullable Sharing global(Fields own, List<Fields> written, List<LimitSpec> limits) {
    boolean other = anyOtherThanLeased(own, written);
    Tier.Leased leased = leaseReader.read(own.get("lease"), Scope.GLOBAL, limits);
    String remedy = "write scope: region and tier: strict, or remove it";
    boolean overdraft = anyOverdraft("scope global", remedy, own, written);
    String others = "write scope: region, or remove the algorithm";
    boolean sliding = anyOtherThanFixedWindow("scope: global", others, written);
    return other || overdraft || sliding ? null : new Sharing(Scope.GLOBAL, leased);
  }

  private boolean anyOtherThanLeased(Fields own, List<Fields> written) {
    boolean any = false;
    for (Fields place : places(own, written)) {
      Field tier = place.get("tier");
      String name = tier == null ? LEASED : values.choice(tier, TIERS);
      if (tier != null && name != null && !name.equals(LEASED)) {
        any = true;
        problems.error(
            tier.value().location(),
            "`scope: global` is always leased, but the tier is " + name,
            "write tier: leased, or remove it");
      }
    }
    return any;
  }

  private boolean anyOverdraft(String with, String remedy, Fields own, List<Fields> written) {
    boolean any = false;
    for (Fields place : places(own, written)) {
      Field overdraft = place.get("overdraft");
      if (overdraft != null && values.flag(overdraft)) {
        any = true;
        problems.error(overdraft.at(), "`overdraft` has no meaning with " + with, remedy);
      }
    }
    return any;
  }

  private boolean anyOtherThanFixedWindow(String with, String remedy, List<Fields> written) {
    boolean any = false;
    for (Fields limit : written) {
      Field algorithm = limit.get("algorithm");
      String name = algorithm == null ? null : values.choice(algorithm, LimitReader.ALGORITHMS);
      if (algorithm != null && name != null && !name.equals(LimitReader.FIXED_WINDOW)) {
        any = true;
        problems.error(
            algorithm.value().location(),
            Wording.quote(with) + " is for fixed_window only, but the algorithm is " + name,
            remedy);
      }
    }
    return any;
  }

  private static List<Fields> places(Fields own, List<Fields> written) {
    List<Fields> places = new ArrayList<>(written);
    places.add(own);
    return places;
  }
}
