package io.throttlekit.limiter.tenants;

import static java.util.Objects.requireNonNull;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@link PermitShares} by visiting all tenants at each decision; requests are their numbers. */
final class ScannedShares {

  /** A tenant. */
  static final class Member {
    TenantWeight weight;
    int inFlight;
    final List<Integer> waiting = new ArrayList<>();
    long activeNanos;

    Member(TenantWeight weight) {
      this.weight = weight;
    }

    boolean isIdle() {
      return inFlight == 0 && waiting.isEmpty();
    }
  }

  final Map<String, Member> members = new LinkedHashMap<>();
  private final TenantTerms terms;

  ScannedShares(TenantTerms terms) {
    this.terms = terms;
  }

  Member arrived(PermitTenant of, long nowNanos) {
    expire(nowNanos);
    Member member = members.computeIfAbsent(of.name(), _ -> new Member(of.weight()));
    member.weight = of.weight();
    member.activeNanos = nowNanos;
    return member;
  }

  void expire(long nowNanos) {
    members
        .values()
        .removeIf(each -> each.isIdle() && nowNanos - each.activeNanos >= terms.activeNanos());
  }

  boolean admits(Member member, int limit) {
    return free(member, limit) > 0;
  }

  long free(Member member, int limit) {
    Map<Member, Integer> parts = parts(limit);
    int free = limit - inFlight();
    boolean within = member.inFlight < requireNonNull(parts.get(member));
    if (within) {
      return member.weight.listed() ? free : free - reserve(parts, each -> each.weight.listed());
    }
    return free - reserve(parts, _ -> true);
  }

  /** Returns the waiting request that may have a permit; -1 for none. */
  int next(int limit) {
    Map<Member, Integer> parts = parts(limit);
    int next = -1;
    boolean nextWithin = false;
    for (Member each : members.values()) {
      boolean within = each.inFlight < requireNonNull(parts.get(each));
      if (!each.waiting.isEmpty() && free(each, limit) > 0) {
        int first = each.waiting.getFirst();
        if (next < 0 || (within && !nextWithin) || (within == nextWithin && first < next)) {
          next = first;
          nextWithin = within;
        }
      }
    }
    return next;
  }

  int inFlight() {
    return members.values().stream().mapToInt(each -> each.inFlight).sum();
  }

  long reserve(int limit) {
    return reserve(parts(limit), _ -> true);
  }

  private static long reserve(Map<Member, Integer> parts, Predicate<Member> among) {
    return parts.entrySet().stream()
        .filter(each -> among.test(each.getKey()))
        .mapToLong(each -> Math.max(0, each.getValue() - each.getKey().inFlight))
        .sum();
  }

  Map<Member, Integer> parts(int limit) {
    List<Member> all = List.copyOf(members.values());
    List<Member> listed = all.stream().filter(each -> each.weight.listed()).toList();
    List<Member> others = all.stream().filter(each -> !each.weight.listed()).toList();
    long most = (long) limit * terms.unlistedMillionths() / FairTerms.ALL;
    long rest = (long) limit * (FairTerms.ALL - terms.unlistedMillionths()) / FairTerms.ALL;
    Map<Member, Integer> parts = divide(all, limit);
    boolean isAbove =
        weights(others) * FairTerms.ALL > weights(all) * terms.unlistedMillionths()
            || others.stream().mapToLong(each -> requireNonNull(parts.get(each))).sum() > most;
    if (listed.isEmpty() || !isAbove) {
      return parts;
    }
    Map<Member, Integer> apart = divide(listed, rest);
    apart.putAll(divide(others, most));
    return apart;
  }

  private static Map<Member, Integer> divide(List<Member> members, long permits) {
    Map<Member, Integer> parts = new HashMap<>();
    long rest = permits;
    long weights = weights(members);
    List<Member> ascending =
        members.stream().sorted(Comparator.comparingLong(each -> each.weight.value())).toList();
    for (Member each : ascending) {
      long part = each.weight.value() * rest / weights;
      if (part == 0 && members.size() <= permits) {
        part = 1;
        rest--;
        weights -= each.weight.value();
      }
      parts.put(each, (int) part);
    }
    return parts;
  }

  private static long weights(List<Member> members) {
    return members.stream().mapToLong(each -> each.weight.value()).sum();
  }

  @Nullable Member find(String name) {
    return members.get(name);
  }
}
