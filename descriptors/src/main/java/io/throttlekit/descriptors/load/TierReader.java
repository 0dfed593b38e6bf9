package io.throttlekit.descriptors.load;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.LimitSpec;
import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.descriptors.policy.Sharing;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.lease.Tier;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads how limits are shared and what happens without their counters, and reports settings that
 * conflict with each other.
 */
final class TierReader {
  private static final String STRICT = "strict";
  private static final String LEASED = "leased";

  private TierReader() {}

  /**
   * Reads the scope of limits; {@code null} after reporting an error.
   *
   * @param federated whether regions can share limits; otherwise {@code scope: global} is an error
   */
  static @Nullable Scope scope(LimitGroup limits, boolean federated) {
    String scope = limits.word("scope");
    for (PolicySection place : federated ? List.<PolicySection>of() : limits.places()) {
      if (place.has("scope") && "global".equals(place.word("scope"))) {
        place.error(
            "scope",
            "scope: global needs --coordinator and --region",
            "start the service with both, or write scope: region");
      }
    }
    return scope == null ? null : Scope.valueOf(scope.toUpperCase(Locale.ROOT));
  }

  /**
   * Reads how limits are shared; the default after reporting an error.
   *
   * @param scope {@code null} when it is not known
   * @param limits as they are written
   * @param read those of them that could be read
   */
  static Sharing read(@Nullable Scope scope, LimitGroup limits, List<LimitSpec> read) {
    boolean overdraft = limits.flag("overdraft");
    OnOutage onOutage = onOutage(limits.beside(), scope);
    DataLoss onDataLoss = onDataLoss(limits.beside());
    Sharing shared = scope == Scope.GLOBAL ? global(limits, read) : regional(scope, limits, read);
    return shared == null
        ? Sharing.DEFAULT
        : new Sharing(shared.scope(), shared.tier(), overdraft, onOutage, onDataLoss);
  }

  private static @Nullable Sharing regional(
      @Nullable Scope scope, LimitGroup limits, List<LimitSpec> read) {
    String tier = limits.word("tier");
    boolean named = limits.names("tier");
    boolean isLeased = LEASED.equals(tier);
    PolicySection beside = limits.beside();
    Tier.Leased leased =
        LeaseReader.read(
            beside.sectionOrDefaults("lease"), Scope.REGION, isLeased ? read : List.of());
    if (tier == null || (scope == null && !named)) {
      return null;
    }
    if (!isLeased) {
      var _ =
          beside.refuse(
              "lease",
              "tier " + tier + (named ? "" : ", the default"),
              (named ? "write" : "add") + " tier: leased, or remove it");
    }
    if (tier.equals(STRICT)) {
      return named ? Sharing.NOTHING : Sharing.DEFAULT;
    }
    if (anyOverdraft("tier " + tier, "write tier: strict, or remove it", limits)) {
      return null;
    }
    if (!isLeased) {
      return Sharing.of(Scope.REGION, new Tier.CachedDeny());
    }
    String others = "write tier: strict or tier: cached_deny, or remove the algorithm";
    return anyOtherThanFixedWindow("tier: leased", others, limits)
        ? null
        : Sharing.of(Scope.REGION, leased);
  }

  /**
   * Reads limits that regions share. They are always leased by the window, whether or not the
   * policy names the tier.
   */
  private static @Nullable Sharing global(LimitGroup limits, List<LimitSpec> read) {
    boolean other = anyOtherThanLeased(limits);
    Tier.Leased leased =
        LeaseReader.read(limits.beside().sectionOrDefaults("lease"), Scope.GLOBAL, read);
    String remedy = "write scope: region and tier: strict, or remove it";
    boolean overdraft = anyOverdraft("scope global", remedy, limits);
    String others = "write scope: region, or remove the algorithm";
    boolean sliding = anyOtherThanFixedWindow("scope: global", others, limits);
    return other || overdraft || sliding ? null : Sharing.of(Scope.GLOBAL, leased);
  }

  private static boolean anyOtherThanLeased(LimitGroup limits) {
    boolean any = false;
    for (PolicySection place : limits.places()) {
      String tier = place.has("tier") ? place.word("tier") : LEASED;
      if (tier != null && !tier.equals(LEASED)) {
        any = true;
        place.error(
            "tier",
            "`scope: global` is always leased, but the tier is " + tier,
            "write tier: leased, or remove it");
      }
    }
    return any;
  }

  private static boolean anyOverdraft(String with, String remedy, LimitGroup limits) {
    boolean any = false;
    for (PolicySection place : limits.places()) {
      any |= place.flag("overdraft") && place.refuse("overdraft", with, remedy);
    }
    return any;
  }

  /** Returns whether the limits can be divided among tenants, after reporting why they cannot. */
  static boolean isDivisible(Sharing sharing, LimitGroup limits) {
    boolean sliding =
        anyOtherThanFixedWindow("fair_share", "remove the algorithm, or fair_share", limits);
    boolean carried = sharing.tier() instanceof Tier.Leased leased && !leased.windowCoupled();
    if (carried) {
      limits
          .beside()
          .sectionOrDefaults("lease")
          .error(
              "window_coupled",
              "`window_coupled: false` has no meaning with fair_share: a tenant has a part of each"
                  + " window",
              "write window_coupled: true, or remove it");
    }
    return !sliding && !carried;
  }

  private static boolean anyOtherThanFixedWindow(String with, String remedy, LimitGroup limits) {
    boolean any = false;
    for (PolicySection limit : limits.written()) {
      String algorithm = limit.word("algorithm");
      if (algorithm != null && !algorithm.equals(LimitReader.FIXED_WINDOW)) {
        any = true;
        limit.error(
            "algorithm",
            Wording.quote(with) + " is for fixed_window only, but the algorithm is " + algorithm,
            remedy);
      }
    }
    return any;
  }

  /**
   * Returns the answer when counters cannot be reached.
   *
   * @param scope of the rule; {@code null} when it is not known
   */
  static OnOutage onOutage(PolicySection beside, @Nullable Scope scope) {
    List<String> offered = new ArrayList<>(beside.words("on_outage"));
    if (scope == Scope.REGION) {
      offered.remove("regional_only");
    }
    String word = beside.word("on_outage", offered);
    OnOutage onOutage =
        word == null ? OnOutage.ERROR : OnOutage.valueOf(word.toUpperCase(Locale.ROOT));
    if (onOutage == OnOutage.REGIONAL_ONLY && scope == Scope.REGION) {
      beside.error(
          "on_outage",
          "`on_outage: regional_only` is for scope: global only",
          "write scope: global, or on_outage: error, deny, allow or local");
    }
    return onOutage == OnOutage.REGIONAL_ONLY && scope != Scope.GLOBAL ? OnOutage.ERROR : onOutage;
  }

  /** Returns the treatment of limits whose counters are lost. */
  static DataLoss onDataLoss(PolicySection beside) {
    DataLoss loss = beside.constant("on_data_loss", DataLoss.class);
    return loss == null ? DataLoss.REFILL : loss;
  }
}
