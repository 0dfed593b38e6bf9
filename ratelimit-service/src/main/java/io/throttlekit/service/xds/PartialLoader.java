package io.throttlekit.service.xds;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.load.RuleOverrides;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicyTree;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.service.policies.ControlPlaneStatus.RejectedPart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Loads the configurations of a control plane so that a mistake affects only what has it.
 *
 * <p>A descriptor with a mistake keeps what was accepted of it before. Without that it limits
 * nothing, and descriptors nested in it remain. One that does not fit its overrides takes effect
 * without them. A domain that cannot be read keeps its last good state. All else takes effect as it
 * was sent. Thread-safe.
 */
final class PartialLoader {
  /**
   * Maximum number of attempts. A descriptor needs at most five, and one attempt finds up to a
   * thousand mistakes.
   */
  private static final int MAX_ATTEMPTS = 7;

  private final PolicyLoader loader;

  PartialLoader(LoadOptions options) {
    this.loader = new PolicyLoader(options);
  }

  /**
   * Result of a load.
   *
   * @param book null if there are too many mistakes, and nothing takes effect
   * @param accepted what takes effect, by domain
   * @param mistakes errors of the control plane, and not of overrides
   * @param problems all errors, and the warnings of what takes effect
   * @param rejected what does not take effect as it was sent
   */
  record Outcome(
      @Nullable PolicyBook book,
      SortedMap<String, List<RateLimitDescriptor>> accepted,
      List<Problem> mistakes,
      List<Problem> problems,
      List<RejectedPart> rejected) {}

  /**
   * Loads what was sent.
   *
   * @param before what was accepted last, by domain
   */
  Outcome load(
      SentConfigs sent,
      SortedMap<String, List<RateLimitDescriptor>> before,
      RuleOverrides overrides) {
    return new Load(sent, before, overrides).run();
  }

  private final class Load {
    private final SentConfigs sent;
    private final SortedMap<String, List<RateLimitDescriptor>> before;
    private final RuleOverrides overrides;
    private final Map<Problem, Optional<SentDescriptor>> errors = new LinkedHashMap<>();
    private final List<RejectedPart> rejected = new ArrayList<>();
    private final Map<String, SentDescriptor> roots = new TreeMap<>();
    private final List<SentDescriptor> all = new ArrayList<>();
    private final Map<SentDescriptor, String> domains = new HashMap<>();
    private final Map<String, SentDescriptor> rootsBefore = new HashMap<>();

    Load(
        SentConfigs sent,
        SortedMap<String, List<RateLimitDescriptor>> before,
        RuleOverrides overrides) {
      this.sent = sent;
      this.before = before;
      this.overrides = overrides;
      sent.problems().forEach(problem -> errors.put(problem, Optional.empty()));
    }

    Outcome run() {
      wanted()
          .forEach((domain, descriptors) -> {
            int from = all.size();
            roots.put(domain, SentDescriptor.root(domain, descriptors, all));
            all.subList(from, all.size()).forEach(descriptor -> domains.put(descriptor, domain));
          });
      for (int i = 0; i < MAX_ATTEMPTS; i++) {
        Problems found = new Problems();
        RuleOverrides.Application application = overrides.start();
        LoadResult result = loader.loadTrees(policies(application, found));
        result.problems().forEach(found::add);
        if (!found.hasErrors()) {
          application.warnOfUnused(found);
          return accepted(result, found);
        }
        if (!fallBack(found)) {
          break;
        }
      }
      rejected.clear();
      rejected.add(new RejectedPart("", "all that was sent: there are too many mistakes"));
      List<Problem> all = List.copyOf(errors.keySet());
      return new Outcome(null, before, all, all, rejected);
    }

    /** Returns the descriptors by domain, with the last good state of what could not be read. */
    private SortedMap<String, List<RateLimitDescriptor>> wanted() {
      SortedMap<String, List<RateLimitDescriptor>> wanted = new TreeMap<>(sent.domains());
      before.forEach((domain, descriptors) -> {
        boolean unreadable = sent.unreadable().contains(domain);
        if (unreadable || (sent.incomplete() && !wanted.containsKey(domain))) {
          wanted.put(domain, descriptors);
        }
      });
      for (String domain : new TreeSet<>(sent.unreadable())) {
        String text =
            domain.isEmpty()
                ? "a resource that cannot be read: the last good state of missing domains remains"
                : Place.of(domain)
                    + (before.containsKey(domain)
                        ? ": its last good state remains"
                        : ": it has no effect");
        rejected.add(new RejectedPart(Place.shown(domain), text));
      }
      return wanted;
    }

    private List<PolicyTree> policies(RuleOverrides.Application application, Problems found) {
      PolicyTrees trees = new PolicyTrees(application, found);
      List<PolicyTree> policies = new ArrayList<>();
      roots.forEach((domain, root) -> policies.add(trees.of(domain, root)));
      return policies;
    }

    /** Lets each descriptor with an error fall back; returns false if that is not possible. */
    private boolean fallBack(Problems found) {
      Set<SentDescriptor> wrong = new LinkedHashSet<>();
      for (Problem problem : found.sorted(Map.of())) {
        if (problem.severity() == Severity.ERROR) {
          int number = problem.location().column();
          if (problem.location().line() != 0 || number < 1) {
            errors.put(problem, Optional.empty());
            return false; // of no descriptor
          }
          SentDescriptor descriptor = all.get(number - 1);
          errors.putIfAbsent(problem, Optional.of(descriptor));
          wrong.add(descriptor);
        }
      }
      wrong.forEach(descriptor -> {
        String domain = domains.getOrDefault(descriptor, "");
        descriptor.fallBack(rootsBefore.computeIfAbsent(domain, this::rootBefore));
      });
      return true;
    }

    private @Nullable SentDescriptor rootBefore(String domain) {
      List<RateLimitDescriptor> accepted = before.get(domain);
      return accepted == null ? null : SentDescriptor.root(domain, accepted, new ArrayList<>());
    }

    private Outcome accepted(LoadResult result, Problems found) {
      SortedMap<String, List<RateLimitDescriptor>> accepted = new TreeMap<>();
      roots.forEach((domain, root) -> accepted.put(domain, root.messages()));
      for (SentDescriptor descriptor : all) {
        if (!descriptor.remains().isEmpty()) {
          String domain = Place.shown(domains.getOrDefault(descriptor, ""));
          rejected.add(new RejectedPart(domain, descriptor.at() + ": " + descriptor.remains()));
        }
      }
      List<Problem> mistakes = new ArrayList<>();
      errors.forEach((error, descriptor) -> {
        if (descriptor.map(SentDescriptor::rejected).orElse(true)) {
          mistakes.add(error);
        }
      });
      List<Problem> problems = new ArrayList<>(errors.keySet());
      problems.addAll(found.sorted(Map.of()));
      return new Outcome(result.book(), accepted, mistakes, problems, List.copyOf(rejected));
    }
  }
}
