package io.throttlekit.service.generated;

import static java.util.Objects.requireNonNull;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.ReferenceMatcher.Tenant;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * A limit that tenants share, by the rules of docs/FAIRNESS.md as a scan over all tenants. Who has
 * sent a request stays known, also if the request counts nothing; what each has used is in a draft.
 */
final class ReferencePool {
  private static final long MAX = (1L << 53) - 1;

  private record Seen(long window, FairShare.Weight weight) {}

  /** Each tenant with the window of its last request and its weight then. */
  private final Map<String, Seen> seen;

  /** Units of a tenant, by window; of a draft. */
  private final Map<String, Long> used;

  private final long window;
  private final long limit;
  private final long millionths;

  private ReferencePool(
      Map<String, Seen> seen, Map<String, Long> used, long window, long limit, long millionths) {
    this.seen = seen;
    this.used = used;
    this.window = window;
    this.limit = limit;
    this.millionths = millionths;
  }

  /** What tenants have used in a window. */
  record Used(long window, Map<String, Long> units) {}

  /** Who has sent requests, of all pools. */
  static final class Requests {
    private final Map<Object, Map<String, Seen>> ofPools = new HashMap<>();

    ReferencePool pool(Object name, Used used, FairShare share, long limit, long window) {
      return new ReferencePool(
          ofPools.computeIfAbsent(name, _ -> new HashMap<>()),
          new HashMap<>(used.window() == window ? used.units() : Map.of()),
          window,
          limit,
          share.unlistedMillionths());
    }
  }

  Used used() {
    return new Used(window, used);
  }

  Decision charge(Tenant tenant, long cost, Overrun overrun, long untilEnd) {
    if (cost == 0) {
      return look(tenant, overrun, untilEnd);
    }
    if (cost < 0) {
      long before = used(tenant.name());
      used.put(tenant.name(), Math.max(0, before + cost));
      Decision after = look(tenant, Overrun.COUNT, untilEnd);
      return Decision.admit(after.limit(), after.remaining(), untilEnd);
    }
    seen.put(tenant.name(), new Seen(window, tenant.weight()));
    long mine = used(tenant.name());
    long guarantee = guarantee(tenant.name());
    boolean fits = cost <= free(tenant);
    long most = fits ? guarantee : Math.max(guarantee, mine);
    boolean admitted = fits && mine + cost <= guarantee;
    if (fits && !admitted) {
      long beyond = Math.min(mine + cost - guarantee, Math.min(cost, unreserved(tenant)));
      most = guarantee + beyond;
      admitted = mine + cost <= most;
    }
    if (admitted || overrun != Overrun.REFUSE) {
      used.put(tenant.name(), mine + Math.min(cost, MAX - total()));
    }
    if (admitted) {
      return Decision.admit(most, most - mine - cost, untilEnd);
    }
    long debt = overrun == Overrun.REFUSE ? 0 : cost;
    long retry = cost > limit ? Decision.NEVER : untilEnd;
    return Decision.refuse(most, Math.max(0, most - mine) - debt, untilEnd, retry);
  }

  /** Returns what a tenant could take, as if it had asked. */
  private Decision look(Tenant tenant, Overrun overrun, long untilEnd) {
    Seen before = seen.get(tenant.name());
    seen.put(tenant.name(), new Seen(window, tenant.weight()));
    long mine = used(tenant.name());
    long guarantee = guarantee(tenant.name());
    long own = guarantee - mine;
    long available = Math.max(0, Math.min(free(tenant), own + unreserved(tenant)));
    long left = own < 0 ? 0 : Math.min(available, available > 2 * own ? own + 1 : own);
    if (before == null) {
      seen.remove(tenant.name());
    } else {
      seen.put(tenant.name(), before);
    }
    long most = Math.max(guarantee, mine + left);
    boolean admitted = overrun == Overrun.COUNT ? mine <= most : left > 0;
    return admitted
        ? Decision.admit(most, left, untilEnd)
        : Decision.refuse(most, left, untilEnd, limit == 0 ? Decision.NEVER : untilEnd);
  }

  private long total() {
    return used.values().stream().mapToLong(Long::longValue).sum();
  }

  private long free(Tenant tenant) {
    long left = limit - total();
    return tenant.weight().listed() ? left : left - reserve((_, weight) -> weight.listed());
  }

  private long unreserved(Tenant tenant) {
    return Math.max(0, limit - total() - reserve((name, _) -> !name.equals(tenant.name())));
  }

  private long reserve(BiPredicate<String, FairShare.Weight> which) {
    return active().entrySet().stream()
        .filter(each -> which.test(each.getKey(), each.getValue().weight()))
        .mapToLong(each -> Math.max(0, guarantee(each.getKey()) - used(each.getKey())))
        .sum();
  }

  private long used(String name) {
    return used.getOrDefault(name, 0L);
  }

  private Map<String, Seen> active() {
    Map<String, Seen> active = new HashMap<>(seen);
    active.values().removeIf(each -> each.window() < window - 1);
    return active;
  }

  private long guarantee(String name) {
    BigInteger listed = weights(true);
    BigInteger unlisted = weights(false);
    FairShare.Weight weight = requireNonNull(seen.get(name)).weight();
    BigInteger units = BigInteger.valueOf(limit);
    BigInteger among = listed.add(unlisted);
    BigInteger all = BigInteger.valueOf(FairShare.ALL);
    BigInteger part = BigInteger.valueOf(millionths);
    if (listed.signum() > 0 && unlisted.multiply(all).compareTo(part.multiply(among)) > 0) {
      units = units.multiply(weight.listed() ? all.subtract(part) : part).divide(all);
      among = weight.listed() ? listed : unlisted;
    }
    return BigInteger.valueOf(weight.thousandths()).multiply(units).divide(among).longValueExact();
  }

  private BigInteger weights(boolean listed) {
    return BigInteger.valueOf(
        active().values().stream()
            .map(Seen::weight)
            .filter(weight -> weight.listed() == listed)
            .mapToLong(FairShare.Weight::thousandths)
            .sum());
  }
}
