package io.throttlekit.descriptors.policy;

import io.throttlekit.DataLoss;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Describes rules for people, and what a tenant has of a limit that is divided among tenants. */
final class RuleWords {
  private RuleWords() {}

  /** Describes how much a rule admits and how, without its name and place. */
  static String of(Rule rule) {
    StringBuilder words = new StringBuilder();
    ConcurrencyRule concurrency = rule.concurrency();
    words.append(
        concurrency != null
            ? concurrency.inWords()
            : rule.unlimited()
                ? "unlimited"
                : rule.limits().stream().map(Limit::inWords).collect(Collectors.joining(" and ")));
    FairShare share = rule.fairShare();
    words.append(share == null ? "" : ", " + of(share));
    String tier = TierText.of(rule.tier());
    words.append(tier.isEmpty() ? "" : ", " + tier);
    words.append(rule.shadow() ? ", in shadow mode" : "");
    words.append(rule.quota() ? ", in quota mode" : "");
    words.append(rule.overdraft() ? ", with overdraft" : "");
    Denial denial = rule.denial();
    words.append(denial != null && denial.status() > 0 ? ", denied with " + denial.status() : "");
    if (rule.onOutage() != OnOutage.ERROR) {
      words.append(", on outage ").append(rule.onOutage().name().toLowerCase(Locale.ROOT));
    }
    if (rule.onDataLoss() != DataLoss.REFILL) {
      words.append(", on data loss ").append(rule.onDataLoss().name().toLowerCase(Locale.ROOT));
    }
    return words.toString();
  }

  /** {@code divided among the tenants of entry org (2 weights by entry plan, others 1)}. */
  private static String of(FairShare share) {
    StringBuilder words = new StringBuilder("divided among the tenants of entry ");
    words.append(share.tenantEntry());
    int listed = share.weights().size();
    if (listed > 0) {
      words
          .append(" (")
          .append(listed)
          .append(listed == 1 ? " weight by entry " : " weights by entry ");
      words.append(share.weightEntry() == null ? share.tenantEntry() : share.weightEntry());
      words.append(", others ").append(share.defaultWeight()).append(')');
    }
    return words.toString();
  }

  /**
   * Describes what the tenant of a request has of each limit, a line each; empty for a rule without
   * fair shares.
   *
   * @param entries of a request that the rule matched
   */
  static List<String> shares(Rule rule, String[] entries) {
    FairShare share = rule.fairShare();
    if (share == null) {
      return List.of();
    }
    FairShare.Weight weight = rule.tenantWeight(entries);
    List<String> lines = new ArrayList<>();
    lines.add(
        "tenant %s: weight %s (%s)"
            .formatted(rule.tenant(entries), weight, weight.listed() ? "listed" : "the default"));
    ConcurrencyRule concurrency = rule.concurrency();
    if (concurrency != null) {
      int max = concurrency.range().max();
      lines.add(guarantee(share, weight, max, "in flight while the limit is at its largest"));
    }
    for (Limit limit : rule.limits()) {
      lines.add(guarantee(share, weight, limit.requestsPerUnit(), "per " + limit.window()));
    }
    if (!rule.limits().isEmpty() && !rule.shadow()) {
      lines.add(
          "refused: if its guarantee is used and the rest is reserved for other tenants, or used");
    }
    lines.add("pool of all tenants: " + pairs(rule.chargedEntries(entries.clone())));
    return lines;
  }

  private static String guarantee(
      FairShare share, FairShare.Weight weight, long limit, String window) {
    String others =
        share.weights().isEmpty()
            ? "without other tenants"
            : share.weightEntry() == null
                ? "beside all listed tenants"
                : "beside one tenant of each listed weight, and unlisted ones";
    boolean bounded = weight.listed() && share.weightEntry() == null;
    String more = bounded ? "" : ", less with more tenants";
    String none =
        weight.listed()
            ? ""
            : " (0 with more than " + share.unlistedUnits(limit) + " such tenants)";
    return "guarantee: %s%d of %d %s, %s%s%s"
        .formatted(
            bounded ? "at least " : "",
            share.guarantee(weight, limit),
            limit,
            window,
            others,
            more,
            none);
  }

  private static String pairs(String[] entries) {
    List<String> pairs = new ArrayList<>();
    for (int i = 0; i < entries.length; i += 2) {
      pairs.add(entries[i] + '=' + entries[i + 1]);
    }
    return String.join(", ", pairs);
  }
}
