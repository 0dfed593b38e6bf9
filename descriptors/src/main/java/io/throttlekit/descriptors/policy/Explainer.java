package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.Explanation.MatchedBy;
import io.throttlekit.descriptors.policy.Explanation.NearMiss;
import io.throttlekit.descriptors.policy.Explanation.NearMiss.Kind;
import io.throttlekit.descriptors.policy.Explanation.Step;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.limiter.Priority;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explains which rule a request matches and why. Stateless and thread-safe; not for the hot path.
 */
public final class Explainer {

  /**
   * Explains what happens to one descriptor of a request.
   *
   * @param entries key, value, key, value …
   * @throws IllegalArgumentException if a key has no value
   */
  public Explanation explain(PolicyBook book, String domain, String[] entries) {
    if (entries.length % 2 != 0) {
      throw new IllegalArgumentException("every key needs a value: " + List.of(entries));
    }
    Level policies = book.domain(domain);
    if (policies == null) {
      String summary =
          "no rule: no policy names the domain `" + domain + "`, so that nothing limits it";
      return Explanation.ofNoRule(summary, List.of(), alike(book, domain));
    }
    for (int i = 0; i < entries.length; i += 2) {
      StreamDoneEntry reserved = StreamDoneEntry.of(entries[i]);
      if (reserved != null) {
        String summary =
            "no rule: entry %d %s the permit %s, whatever the others reach; never charged"
                .formatted(i / 2 + 1, reserved.effect(), Wording.quote(entries[i + 1]));
        return Explanation.ofNoRule(summary, List.of(), List.of());
      }
    }
    List<Step> steps = new ArrayList<>();
    Level level = policies;
    CompiledDescriptor last = null;
    for (int i = 0; i < entries.length; i += 2) {
      CompiledDescriptor found = level.find(entries[i], entries[i + 1]);
      if (found == null) {
        List<NearMiss> misses = new NearMisses(policies, entries).ofEntry(level, i);
        return Explanation.ofNoRule(notFound(entries, i, last, level), steps, misses);
      }
      steps.add(step(i, entries, found));
      last = found;
      level = found.children;
    }
    return atEnd(policies, entries, last, steps);
  }

  private static Explanation atEnd(
      Level policies, String[] entries, @Nullable CompiledDescriptor last, List<Step> steps) {
    if (last == null) {
      String summary = "no rule: the descriptor has no entries";
      return Explanation.ofNoRule(summary, steps, List.of());
    }
    Rule rule = last.rule;
    if (rule == null) {
      String tenant = missingTenant(last);
      String summary =
          "no rule: "
              + (tenant == null
                  ? named(last) + " states no limit"
                  : "no entry `%s` names the tenant for %s, so its limit does not apply"
                      .formatted(tenant, named(last)));
      List<NearMiss> misses = new NearMisses(policies, entries).below(last);
      return Explanation.ofNoRule(summary, steps, misses);
    }
    String name = rule.name().isEmpty() ? "" : " named " + rule.name();
    String summary =
        "rule `%s`%s at %s: %s%s"
            .formatted(
                rule.path(), name, rule.location(), rule.inWords(), noPriority(rule, entries));
    return new Explanation(rule, summary, steps, RuleWords.shares(rule, entries), List.of());
  }

  /** Returns the entry of the tenant if only that is missing to reach a rule, or else null. */
  private static @Nullable String missingTenant(CompiledDescriptor last) {
    for (CompiledDescriptor child : last.children.inOrder()) {
      if (child.own && child.rule != null) { // reached by this entry, and not without it
        return child.composite;
      }
    }
    return null;
  }

  /** Returns a remark on an entry that should name a priority and does not; else an empty text. */
  private static String noPriority(Rule rule, String[] entries) {
    String key =
        rule.concurrency() != null && rule.concurrency().gate() instanceof AtService service
            ? service.priorityEntry()
            : null;
    for (int i = rule.chargedEntries(entries).length; i < entries.length; i += 2) {
      if (entries[i].equals(key) && !Priority.isLevel(entries[i + 1])) {
        return "; " + entry(entries, i) + " is no priority: medium";
      }
    }
    return "";
  }

  private static String notFound(
      String[] entries, int at, @Nullable CompiledDescriptor above, Level level) {
    String where = above == null ? "" : " below " + named(above);
    String what = level.isEmpty() ? "there is nothing" : "nothing matches it";
    String tenant = above == null || above.rule != null ? null : missingTenant(above);
    String needs =
        tenant == null
            ? ""
            : ", whose limit needs an entry `%s` that names the tenant".formatted(tenant);
    return "no rule: entry %d %s, and %s%s%s"
        .formatted(at / 2 + 1, entry(entries, at), what, where, needs);
  }

  private static List<NearMiss> alike(PolicyBook book, String domain) {
    String nearest = Wording.nearest(domain, book.domains());
    if (nearest == null) {
      return List.of();
    }
    boolean onlyCase = nearest.equalsIgnoreCase(domain);
    String how = onlyCase ? "differs only in case from" : "is nearly";
    String message = "domain `%s` %s `%s`".formatted(domain, how, nearest);
    return List.of(new NearMiss(onlyCase ? Kind.CASE : Kind.SPELLING, message));
  }

  private static Step step(int at, String[] entries, CompiledDescriptor found) {
    String key = entries[at];
    String value = entries[at + 1];
    MatchedBy how = found.own ? MatchedBy.DEFAULT : found.expects.matchedBy(key, value);
    boolean shares = found.expects.source().shareThreshold();
    return new Step(at / 2 + 1, key, value, how, found.composite, found.location(), shares);
  }

  private static String entry(String[] entries, int at) {
    return entries[at] + '=' + entries[at + 1];
  }

  private static String named(CompiledDescriptor descriptor) {
    return '`' + descriptor.composite + "` (" + descriptor.location() + ')';
  }
}
