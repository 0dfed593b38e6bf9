package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.RuleOverrides;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.envoy.ads.ConfigListener;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.service.config.XdsConfig;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.policies.ControlPlaneStatus;
import io.throttlekit.service.policies.ControlPlaneStatus.RejectedPart;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.policies.PolicyStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies what a control plane sends: each response is the whole set of policies.
 *
 * <p>A set that differs from the one before it only in its version, or in the order of its
 * resources, is not loaded again. One without resources ends all rules. Counters belong to entries
 * and windows, so they go on when a rule comes back. Thread-safe.
 */
final class XdsPolicies implements ConfigListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(XdsPolicies.class);
  private static final int MAX_LOGGED = 20; // problems of one load
  private static final int MAX_KEPT = 1_000; // problems, and rejected parts, that pages show
  private static final int MAX_ANSWER = 4_000; // characters of a rejection
  private static final int MAX_LOADS_LOGGED = 10; // in a minute, with all their problems
  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /**
   * Memory for each part of a response. A descriptor with a limit has two parts and takes about 2
   * KiB while it is loaded, and the policies before it take the same.
   */
  private static final int BYTES_PER_PART = 4_096;

  private final PolicyStore store;
  private final TimeSource time;
  private final PolicyReloader.Listener listener;
  private final PartialLoader loader;
  private final @Nullable OverridesFile overrides;
  private final @Nullable SavedConfigs saved;
  private final int maxParts;

  private @Nullable SentConfigs sent; // the newest ones; null before the first ones
  private boolean retry; // the next response, also if it repeats these
  private SortedMap<String, List<RateLimitDescriptor>> accepted = new TreeMap<>();
  private Optional<String> answer = Optional.empty(); // to those sent
  private List<Problem> logged = List.of();
  private long minuteNanos; // when the count of logged loads began
  private int loadsLogged;

  /**
   * Creates the policies of a control plane, of which as much is applied as fits into the heap.
   *
   * @param options features of this service that policies depend on
   */
  XdsPolicies(
      XdsConfig config,
      LoadOptions options,
      PolicyStore store,
      TimeSource time,
      PolicyReloader.Listener listener) {
    this(
        config,
        options,
        store,
        time,
        listener,
        config.folder() == null ? null : new SavedConfigs(config.folder()),
        maxParts());
  }

  /**
   * @param saved policies of an earlier process, and for the next one; null to save none
   * @param maxParts of a response that is applied
   */
  XdsPolicies(
      XdsConfig config,
      LoadOptions options,
      PolicyStore store,
      TimeSource time,
      PolicyReloader.Listener listener,
      @Nullable SavedConfigs saved,
      int maxParts) {
    this.maxParts = maxParts;
    this.minuteNanos = time.monotonicNanos();
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.loader = new PartialLoader(options);
    this.overrides =
        config.overrides() == null ? null : new OverridesFile(config.overrides(), options);
    this.saved = saved;
    store.controlPlane(ControlPlaneStatus.of(config.server()));
  }

  private static int maxParts() {
    return Math.toIntExact(
        Math.min(Runtime.getRuntime().maxMemory() / BYTES_PER_PART, Integer.MAX_VALUE - 1));
  }

  /** Loads what an earlier process has saved, with the overrides. */
  synchronized void loadSaved() {
    if (overrides != null) {
      overrides.poll();
      logProblems(overrides.problems());
      logOverrides(overrides);
    }
    attempt(() -> {
      DiscoveryResponse response = saved == null ? null : saved.read();
      if (response == null) {
        return;
      }
      if (SentSize.of(response.getResourcesList(), maxParts) > maxParts) {
        logProblems(List.of(tooLarge()));
        return;
      }
      LOG.info("policies of an earlier process apply until the control plane answers");
      apply(SentConfigs.of(response.getResourcesList()), response.getVersionInfo());
    });
  }

  /** Returns the errors of the file of overrides. */
  synchronized List<Problem> overridesErrors() {
    return overrides == null ? List.of() : errors(overrides.problems());
  }

  /** Applies a changed file of overrides. */
  synchronized void pollOverrides() {
    if (overrides != null && overrides.poll()) {
      LOG.info("the overrides have changed");
      SentConfigs configs = sent;
      if (configs == null) {
        logProblems(overrides.problems());
      } else {
        attempt(() -> apply(configs, status().version()));
      }
      logOverrides(overrides);
    }
  }

  /**
   * Waits until policies that took effect are saved, for a limited time. Those that arrive later
   * are not saved.
   */
  @Override
  public void close() { // without the lock: a load that lasts must not block a stop
    if (saved != null) {
      saved.close();
    }
  }

  private void logOverrides(OverridesFile file) {
    if (!errors(file.problems()).isEmpty()) {
      LOG.error(
          "overrides not loaded: {}",
          file.effective() == RuleOverrides.NONE
              ? "no rule has overrides"
              : "the last valid ones remain active");
    }
  }

  @Override
  public synchronized Optional<String> received(String version, List<Any> resources) {
    if (SentSize.of(resources, maxParts) > maxParts) {
      return rejected(version, tooLarge());
    }
    SentConfigs before = retry ? null : sent;
    attempt(() -> {
      SentConfigs configs = SentConfigs.of(resources);
      if (configs.equals(before)) {
        LOG.debug("version {} repeats the policies in effect", shown(version));
        listener.loaded(answer.isEmpty() && overridesErrors().isEmpty());
      } else {
        apply(configs, version);
      }
    });
    boolean changed = retry || before == null || !before.equals(sent);
    store.controlPlane(
        status().withResponse(shown(version), time.wallMillis(), answer.isEmpty(), changed));
    return answer;
  }

  private Problem tooLarge() {
    return new Problem(
        Severity.ERROR,
        new SourceLocation("xds", 0, 0),
        "the policies have more than %d resources, descriptors and other parts".formatted(maxParts),
        "send fewer, or give this process more memory");
  }

  /** Rejects a response of which nothing is read. */
  private Optional<String> rejected(String version, Problem mistake) {
    List<Problem> mistakes = List.of(mistake);
    store.failed(mistakes, "1 error");
    if (mayLog()) {
      logProblems(mistakes);
    }
    retry = true;
    listener.loaded(false);
    store.controlPlane(
        status()
            .withResponse(shown(version), time.wallMillis(), false, true)
            .withRejectedParts(
                List.of(new RejectedPart("", "all that was sent: it is too large"))));
    return Optional.of(answer(mistakes));
  }

  /** Returns whether a load may be logged, so that those of a minute do not fill a disk. */
  private boolean mayLog() {
    long now = time.monotonicNanos();
    if (now - minuteNanos >= MINUTE_NANOS) {
      minuteNanos = now;
      loadsLogged = 0;
    }
    loadsLogged = Math.min(loadsLogged + 1, MAX_LOADS_LOGGED + 1);
    if (loadsLogged == MAX_LOADS_LOGGED) {
      LOG.warn("policies change often: further changes of this minute are not logged");
    }
    return loadsLogged <= MAX_LOADS_LOGGED;
  }

  @Override
  public synchronized void connected() {
    store.controlPlane(status().withConnection());
  }

  @Override
  public synchronized void disconnected(String reason) {
    store.controlPlane(status().withoutConnection(PrintableText.of(reason)));
  }

  private ControlPlaneStatus status() {
    return Objects.requireNonNull(store.controlPlane());
  }

  /**
   * Loads policies. If that is not possible because of a fault of this program or a lack of memory,
   * the last good ones remain, and the next response is tried, whatever it is.
   */
  private void attempt(Runnable load) {
    try {
      load.run();
      retry = false;
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      retry = true;
      answer = Optional.of("a fault of the rate-limit service, not of the policies: " + e);
      LOG.error("a fault of this program, not of the policies: {}", e.toString());
      store.failed(List.of(), "unexpected " + e);
      store.controlPlane(
          status()
              .withRejectedParts(
                  List.of(new RejectedPart("", "the newest policies: a fault of this program"))));
      listener.loaded(false);
    }
  }

  private void apply(SentConfigs configs, String version) {
    sent = configs;
    RuleOverrides rules = overrides == null ? RuleOverrides.NONE : overrides.effective();
    PartialLoader.Outcome outcome = loader.load(configs, accepted, rules);
    List<Problem> mistakes = outcome.mistakes();
    answer = mistakes.isEmpty() ? Optional.empty() : Optional.of(answer(mistakes));
    List<Problem> problems = new ArrayList<>(outcome.problems());
    problems.addAll(overrides == null ? List.of() : overrides.problems());
    if (outcome.book() != null) {
      accepted = Collections.unmodifiableSortedMap(outcome.accepted());
    }
    if (outcome.book() != null && saved != null) {
      // Before they take effect: a stop then finds them, and the disk's time delays no policies.
      saved.save(version, accepted);
    }
    take(outcome, problems, version);
    store.controlPlane(status().withRejectedParts(bounded(outcome.rejected())));
  }

  private void take(PartialLoader.Outcome outcome, List<Problem> problems, String version) {
    PolicyBook book = outcome.book();
    List<Problem> errors = errors(problems);
    String error = errors.size() == 1 ? "1 error" : errors.size() + " errors";
    long now = time.wallMillis();
    List<Problem> kept = bounded(problems);
    if (book == null) {
      store.failed(kept, error);
    } else if (errors.isEmpty()) {
      store.loaded(book, kept, now);
    } else {
      store.loadedInPart(book, kept, error, now);
    }
    if (mayLog()) {
      log(outcome, problems, error, version);
    }
    listener.loaded(errors.isEmpty());
  }

  private void log(
      PartialLoader.Outcome outcome, List<Problem> problems, String error, String version) {
    logProblems(problems);
    PolicyBook book = outcome.book();
    if (book == null) {
      LOG.error("policies over xDS not loaded: {}; the last good ones remain active", error);
    } else {
      LOG.info(
          "policies loaded over xDS (version: {}, rules: {}, domains: {})",
          shown(version),
          book.rules().size(),
          book.domains().size());
    }
    if (!outcome.rejected().isEmpty()) {
      LOG.error(
          "rejected of version {} (parts: {}): {}",
          shown(version),
          outcome.rejected().size(),
          joined(outcome.rejected().stream().map(RejectedPart::text).toList()));
    }
  }

  /** Logs the problems that the load before did not have: most responses repeat them. */
  private void logProblems(List<Problem> problems) {
    List<Problem> fresh = new ArrayList<>(problems);
    fresh.removeAll(new HashSet<>(logged));
    logged = List.copyOf(problems);
    for (Problem problem : fresh.subList(0, Math.min(fresh.size(), MAX_LOGGED))) {
      if (problem.severity() == Severity.ERROR) {
        LOG.error("{}", problem);
      } else {
        LOG.warn("{}", problem);
      }
    }
    if (fresh.size() > MAX_LOGGED) {
      LOG.warn("{} further problems are shown by /rlconfig", fresh.size() - MAX_LOGGED);
    }
  }

  private static List<Problem> errors(List<Problem> problems) {
    return problems.stream().filter(p -> p.severity() == Severity.ERROR).toList();
  }

  /** Returns all mistakes in one text of limited length, which begins with their number. */
  private static String answer(List<Problem> mistakes) {
    List<String> texts = mistakes.stream().map(XdsPolicies::text).toList();
    return (texts.size() == 1 ? "1 error: " : texts.size() + " errors: ") + joined(texts);
  }

  private static String text(Problem mistake) {
    String text = mistake.location() + ": " + mistake.message();
    return mistake.hint().isEmpty() ? text : text + " (" + mistake.hint() + ")";
  }

  private static String joined(List<String> texts) {
    StringBuilder joined = new StringBuilder();
    for (int i = 0; i < texts.size(); i++) {
      if (joined.length() + texts.get(i).length() > MAX_ANSWER) {
        return joined + "; and %d more".formatted(texts.size() - i);
      }
      joined.append(i == 0 ? "" : "; ").append(texts.get(i));
    }
    return joined.toString();
  }

  private static <T> List<T> bounded(List<T> all) {
    return all.subList(0, Math.min(all.size(), MAX_KEPT));
  }

  private static String shown(String version) {
    return PrintableText.of(version.substring(0, Math.min(version.length(), 100)));
  }
}
