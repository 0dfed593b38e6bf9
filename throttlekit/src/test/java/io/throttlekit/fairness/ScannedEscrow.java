package io.throttlekit.fairness;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The rules of {@link FairShares} as a scan over all tenants in exact arithmetic, with whole window
 * numbers in place of a clock: what the real one must decide alike.
 */
final class ScannedEscrow {
  private static final BigInteger MILLION = BigInteger.valueOf(FairTerms.ALL);

  private final FairTerms terms;
  private final Map<CounterKey, Entry> tenants = new LinkedHashMap<>();
  private long window;
  private BigInteger total = BigInteger.ZERO;
  long borrowed;
  long refused;
  long evicted;

  /** Branches that a history reached. */
  int capped;

  int shielded;
  int lent;

  private static final class Entry {
    TenantWeight weight;
    long window;
    BigInteger used = BigInteger.ZERO;

    Entry(TenantWeight weight, long window) {
      this.weight = weight;
      this.window = window;
    }
  }

  ScannedEscrow(FairTerms terms) {
    this.terms = terms;
  }

  void roll(long next) {
    if (next <= window) {
      return;
    }
    window = next;
    total = BigInteger.ZERO;
    tenants.values().removeIf(entry -> entry.window < window - 1);
    tenants.values().forEach(entry -> entry.used = BigInteger.ZERO);
  }

  FairDecision charge(
      CounterKey key, TenantWeight weight, long cost, Overrun overrun, long untilEnd, long end) {
    Entry entry = enter(key, weight);
    BigInteger needed = BigInteger.valueOf(cost == 0 && overrun != Overrun.COUNT ? 1 : cost);
    BigInteger guarantee = guarantee(entry);
    BigInteger used = entry.used;
    BigInteger left = limit().subtract(total);
    BigInteger free = weight.listed() ? left : left.subtract(reserve(null, e -> e.weight.listed()));
    BigInteger limit;
    boolean admitted = false;
    if (needed.compareTo(free) > 0) {
      limit = guarantee.max(used);
      shielded += needed.compareTo(left) <= 0 ? 1 : 0;
    } else if (used.add(needed).compareTo(guarantee) <= 0) {
      limit = guarantee;
      admitted = true;
    } else {
      BigInteger available = left.subtract(reserve(entry, _ -> true)).max(BigInteger.ZERO);
      BigInteger wanted = used.add(needed).subtract(guarantee);
      limit = guarantee.add(wanted.min(needed).min(available));
      admitted = used.add(needed).compareTo(limit) <= 0;
      lent += admitted ? 1 : 0;
    }
    BigInteger parts = BigInteger.valueOf(cost);
    long beyond = 0;
    if (admitted) {
      beyond = Math.max(0, used.add(parts).subtract(guarantee.max(used)).longValueExact());
      borrowed += beyond;
    } else {
      refused += cost;
    }
    if (admitted || overrun != Overrun.REFUSE) {
      BigInteger counted = parts.min(BigInteger.valueOf(Cost.MAX).subtract(total));
      entry.used = used.add(counted);
      total = total.add(counted);
    }
    long most = limit.longValueExact();
    long before = used.longValueExact();
    long debt = overrun == Overrun.REFUSE ? 0 : cost;
    Decision decision =
        admitted
            ? Decision.admit(most, most - before - cost, untilEnd)
            : Decision.refuse(
                most,
                Math.max(0, most - before) - debt,
                untilEnd,
                cost > terms.limitParts() ? Decision.NEVER : untilEnd);
    return new FairDecision(decision, guarantee.longValueExact(), beyond, end);
  }

  void refund(CounterKey key, long parts) {
    Entry entry = tenants.get(key);
    if (entry != null && entry.window == window) {
      BigInteger back = entry.used.min(BigInteger.valueOf(parts));
      entry.used = entry.used.subtract(back);
      total = total.subtract(back);
    }
  }

  void reset(CounterKey key) {
    Entry entry = tenants.remove(key);
    total = entry == null ? total : total.subtract(entry.used);
  }

  void reset() {
    tenants.clear();
    total = BigInteger.ZERO;
  }

  long used() {
    return total.longValueExact();
  }

  long reserved() {
    return reserve(null, _ -> true).longValueExact();
  }

  int active() {
    return tenants.size();
  }

  private Entry enter(CounterKey key, TenantWeight weight) {
    Entry entry = tenants.get(key);
    if (entry == null) {
      if (tenants.size() == terms.maxTenants()) {
        evict();
      }
      entry = new Entry(weight, window);
      tenants.put(key, entry);
    } else if (entry.window < window || !entry.weight.equals(weight)) {
      tenants.remove(key); // the order is that of first requests in their last window
      tenants.put(key, entry);
    }
    entry.window = window;
    entry.weight = weight;
    return entry;
  }

  private void evict() {
    CounterKey oldest =
        tenants.entrySet().stream()
            .filter(entry -> !entry.getValue().weight.listed())
            .findFirst()
            .orElseGet(() -> tenants.entrySet().iterator().next())
            .getKey();
    tenants.remove(oldest); // what it used stays in the total
    evicted++;
  }

  private BigInteger guarantee(Entry entry) {
    BigInteger units = BigInteger.valueOf(terms.limit());
    BigInteger listed = weights(e -> e.weight.listed());
    BigInteger unlisted = weights(e -> !e.weight.listed());
    BigInteger all = listed.add(unlisted);
    BigInteger share = BigInteger.valueOf(terms.unlistedMillionths());
    BigInteger among = all;
    if (listed.signum() > 0 && unlisted.multiply(MILLION).compareTo(share.multiply(all)) > 0) {
      BigInteger part = entry.weight.listed() ? MILLION.subtract(share) : share;
      units = units.multiply(part).divide(MILLION);
      among = entry.weight.listed() ? listed : unlisted;
      capped++;
    }
    return BigInteger.valueOf(entry.weight.value())
        .multiply(units)
        .divide(among)
        .multiply(BigInteger.valueOf(terms.partsPerUnit()));
  }

  private BigInteger reserve(@Nullable Entry but, Predicate<Entry> which) {
    return tenants.values().stream()
        .filter(entry -> entry != but)
        .filter(which)
        .map(entry -> guarantee(entry).subtract(entry.used).max(BigInteger.ZERO))
        .reduce(BigInteger.ZERO, BigInteger::add);
  }

  private BigInteger weights(Predicate<Entry> which) {
    return tenants.values().stream()
        .filter(which)
        .map(entry -> BigInteger.valueOf(entry.weight.value()))
        .reduce(BigInteger.ZERO, BigInteger::add);
  }

  private BigInteger limit() {
    return BigInteger.valueOf(terms.limitParts());
  }
}
