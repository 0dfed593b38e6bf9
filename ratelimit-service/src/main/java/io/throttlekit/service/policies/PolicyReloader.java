package io.throttlekit.service.policies;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.LoadOptions;
import io.throttlekit.descriptors.LoadResult;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.descriptors.PolicyFiles;
import io.throttlekit.descriptors.PolicyLoader;
import io.throttlekit.descriptors.PolicySource;
import io.throttlekit.descriptors.Problem;
import io.throttlekit.descriptors.Severity;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.RuntimeFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the policy files now and then, and puts changed ones in force when all are good.
 *
 * <p>Edits in place, renames, files that come and go and exchanged links are all seen, because it
 * looks at what the paths lead to and not at events. {@link #poll} is for one thread at a time;
 * {@link #start} uses one of its own.
 */
public final class PolicyReloader implements AutoCloseable {

  /** Changes younger than this may not have changed the fingerprint. */
  private static final long UNSETTLED_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(PolicyReloader.class);

  private final PolicyConfig config;
  private final PolicyStore store;
  private final TimeSource time;
  private final Listener listener;
  private final Function<List<PolicySource>, LoadResult> loader;
  private final ScheduledExecutorService timer;

  private @Nullable Fingerprint seen; // at the last look
  private @Nullable Fingerprint taken; // when the files were last read
  private PolicyFiles.@Nullable Reading read;
  private boolean fault; // met at the last load: any change is a reason to try again

  /** Hears of every load. */
  public interface Listener {

    /** Files were loaded, or could not be; the store says what is in force now. */
    void loaded(boolean good);
  }

  /**
   * A reloader that has not looked yet.
   *
   * @param abilities what policies may ask for
   */
  public PolicyReloader(
      PolicyConfig config,
      Abilities abilities,
      PolicyStore store,
      TimeSource time,
      Listener listener) {
    this(config, store, time, listener, new PolicyLoader(options(config, abilities))::load);
  }

  /** A reloader that has {@code loader} make sense of the files. */
  PolicyReloader(
      PolicyConfig config,
      PolicyStore store,
      TimeSource time,
      Listener listener,
      Function<List<PolicySource>, LoadResult> loader) {
    this.config = config;
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.loader = loader;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("policy-reloader").factory());
  }

  /** Polls from now on, every {@link PolicyConfig#pollInterval}. */
  public void start() {
    long nanos = config.pollInterval().toNanos();
    var _ = timer.scheduleWithFixedDelay(this::pollAndGoOn, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Looks once. The first look loads; later ones load a change only when two looks in a row saw the
   * same files, because a file that is being written may be valid, and admit everything, half-way.
   *
   * <p>Files that this program cannot cope with, by a fault of its own or for want of memory, count
   * as bad ones, and are tried again when any of them changes.
   *
   * @return whether something was loaded, or could not be
   */
  public boolean poll() {
    long now = time.wallMillis();
    Fingerprint fingerprint = Fingerprint.of(watched());
    boolean still = seen == null || fingerprint.equals(seen);
    seen = fingerprint;
    boolean same = fingerprint.equals(taken);
    boolean settled = now - fingerprint.newestMillis() > UNSETTLED_MILLIS;
    if (!still || (same && settled)) {
      return false;
    }
    taken = fingerprint;
    LoadResult result;
    PolicyFiles.Reading reading = null;
    try {
      reading = reading();
      if (reading.equals(read) && (same || !fault)) {
        return false;
      }
      fault = false;
      read = reading;
      result = loader.apply(reading.sources());
    } catch (Throwable e) { // even an error: the stack or memory that lacked is there again
      fault = true;
      failUnexpectedly(e, reading == null ? List.of() : reading.problems());
      return true;
    }
    take(reading, result, now);
    return true;
  }

  /** Looks no more. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void pollAndGoOn() {
    try {
      poll();
    } catch (Throwable e) { // even an error; anything thrown would end the polling
      LOG.error("the policy files could not be looked at", e);
    }
  }

  private void take(PolicyFiles.Reading reading, LoadResult result, long now) {
    List<Problem> problems = new ArrayList<>(reading.problems());
    problems.addAll(result.problems());
    PolicyBook book = result.book();
    if (book == null || !reading.problems().isEmpty()) {
      long errors = problems.stream().filter(p -> p.severity() == Severity.ERROR).count();
      fail(problems, errors == 1 ? "1 error" : errors + " errors");
      return;
    }
    store.loaded(book, problems, now);
    problems.forEach(PolicyReloader::tell);
    RuntimeFolder runtime = runtimeOf(config);
    if (reading.sources().isEmpty() && runtime != null) { // as that program has it, which is silent
      LOG.warn("{}", NothingCounts.in(runtime));
    }
    LOG.info(
        "policies loaded from {} (rules: {}, domains: {}, files: {})",
        from(),
        book.rules().size(),
        book.domains().size(),
        reading.sources().size());
    listener.loaded(true);
  }

  private void fail(List<Problem> problems, String error) {
    store.failed(problems, error);
    problems.forEach(PolicyReloader::tell);
    if (store.book() != null) {
      LOG.error("policies not loaded: {}; the last good ones stay in force", error);
    } else if (!config.requireAtStart()) { // otherwise whoever refuses to start says it
      LOG.error("policies not loaded: {}; none are in force", error);
    }
    listener.loaded(false);
  }

  /** Without its trace, which may be a thousand lines of one recursion. */
  private void failUnexpectedly(Throwable e, List<Problem> problems) {
    StackTraceElement[] trace = e.getStackTrace();
    String place = trace.length == 0 ? "" : " at " + trace[0];
    LOG.error("a fault of this program, not of the policies: {}{}", e, place);
    fail(problems, "unexpected " + e);
  }

  private static void tell(Problem problem) {
    if (problem.severity() == Severity.ERROR) {
      LOG.error("{}", problem);
    } else {
      LOG.warn("{}", problem);
    }
  }

  private static LoadOptions options(PolicyConfig config, Abilities abilities) {
    LoadOptions named =
        runtimeOf(config) == null
            ? new LoadOptions(config.mergeDomains())
            : new LoadOptions(config.mergeDomains(), "MERGE_DOMAIN_CONFIG=true");
    return abilities.restrict(named);
  }

  private PolicyFiles.Reading reading() {
    RuntimeFolder runtime = runtimeOf(config);
    return runtime == null
        ? PolicyFiles.read(config.paths())
        : PolicyFiles.readRuntime(
            runtime.root(),
            runtime.subdirectory(),
            runtime.appDirectory(),
            runtime.watchRoot(),
            runtime.ignoreDotFiles());
  }

  private List<Path> watched() {
    RuntimeFolder runtime = runtimeOf(config);
    return runtime == null
        ? config.paths()
        : List.of(Path.of(runtime.root() + "/" + runtime.subdirectory()));
  }

  private String from() {
    return watched().stream().map(Path::toString).collect(Collectors.joining(", "));
  }

  /** Where envoyproxy/ratelimit would look, when policies are read from there. */
  private static @Nullable RuntimeFolder runtimeOf(PolicyConfig config) {
    return config.paths().isEmpty() ? config.runtime() : null;
  }
}
