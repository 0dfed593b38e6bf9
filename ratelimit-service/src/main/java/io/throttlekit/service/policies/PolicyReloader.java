package io.throttlekit.service.policies;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicyFiles;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import io.throttlekit.service.config.ServiceConfig;
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
import org.slf4j.event.Level;

/**
 * Polls the policy files, and applies changed ones when all are valid.
 *
 * <p>It detects edits in place, renames, new and deleted files and exchanged links, because it
 * compares the files that the paths lead to instead of using events. {@link #poll} is for one
 * thread at a time; {@link #start} uses a thread of its own.
 */
public final class PolicyReloader implements AutoCloseable {

  /**
   * Age below which a change may not have changed the fingerprint: file systems' clocks may be as
   * coarse as 2 s.
   */
  private static final long UNSETTLED_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(PolicyReloader.class);

  private final PolicyConfig config;
  private final PolicyStore store;
  private final TimeSource time;
  private final Listener listener;
  private final Function<List<PolicySource>, LoadResult> loader;
  private final @Nullable SavedSources saved;
  private final ScheduledExecutorService timer;

  private @Nullable Fingerprint seen; // at the last poll
  private @Nullable Fingerprint taken; // when the files were last read
  private PolicyFiles.@Nullable Sources read;
  private boolean firstLoad = true; // still to come, or in progress
  private boolean fault; // at the last load: any change is a reason to try again

  /** Listener for loads. */
  public interface Listener {

    /** Called after files were loaded, or could not be; the store has the effective policies. */
    void loaded(boolean good);
  }

  /**
   * Creates a reloader that has not polled yet.
   *
   * @param options features of this service that policies depend on
   */
  public PolicyReloader(
      PolicyConfig config,
      LoadOptions options,
      PolicyStore store,
      TimeSource time,
      Listener listener) {
    this(config, store, time, listener, new PolicyLoader(options)::load, saved(config));
  }

  private static @Nullable SavedSources saved(PolicyConfig config) {
    Path folder = config.lastGoodFolder();
    return folder == null ? null : new SavedSources(folder);
  }

  /** Returns the options of a service with this configuration, without features it lacks. */
  public static LoadOptions options(ServiceConfig config) {
    // limits of Envoys would not move without access logs
    boolean accessLogs = config.concurrency().accessLog();
    boolean federated = config.federation() != null;
    return options(config.policies(), federated, accessLogs, accessLogs);
  }

  static LoadOptions options(
      PolicyConfig config, boolean federated, boolean steering, boolean accessLogs) {
    boolean isRuntime = runtimeOf(config) != null;
    String mergeSwitch = isRuntime ? "MERGE_DOMAIN_CONFIG=true" : LoadOptions.MERGE_SWITCH;
    boolean standsIn = isRuntime || config.xds() != null;
    return new LoadOptions(
        config.mergeDomains(), mergeSwitch, federated, steering, accessLogs, standsIn);
  }

  /** Creates a reloader with another loader and another place of the last good files. */
  PolicyReloader(
      PolicyConfig config,
      PolicyStore store,
      TimeSource time,
      Listener listener,
      Function<List<PolicySource>, LoadResult> loader,
      @Nullable SavedSources saved) {
    this.config = config;
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.loader = loader;
    this.saved = saved;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("policy-reloader").factory());
  }

  /** Starts to poll, every {@link PolicyConfig#pollInterval}. */
  public void start() {
    long nanos = config.pollInterval().toNanos();
    var _ = timer.scheduleWithFixedDelay(this::pollAndGoOn, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Polls once. The first poll loads; later ones load a change only when two polls in a row saw the
   * same files, because a file that is only half written may be valid, and admit everything.
   *
   * <p>If the first poll finds no valid policies, those that an earlier process has saved apply.
   *
   * <p>An unexpected exception or error while loading, such as a lack of memory, counts as invalid
   * files; loading is tried again when any of them changes.
   *
   * @return whether files were loaded, or could not be
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
    PolicyFiles.Sources reading = null;
    try {
      reading = reading();
      // The same content is not loaded again, unless a fault may be over because a file changed.
      if (reading.equals(read) && (same || !fault)) {
        return false;
      }
      fault = false;
      read = reading;
      result = loader.apply(reading.sources());
    } catch (Throwable e) { // errors too: stack or memory is available again after unwinding
      fault = true;
      failUnexpectedly(e, reading == null ? List.of() : reading.problems());
      return true;
    }
    take(reading, result, now);
    return true;
  }

  /** Stops polling, and waits until the last good files are saved, for a limited time. */
  @Override
  public void close() {
    timer.shutdownNow();
    if (saved != null) {
      saved.close();
    }
  }

  private void pollAndGoOn() {
    try {
      poll();
    } catch (Throwable e) { // errors too: anything thrown would end the polling
      LOG.error("the policy files could not be polled", e);
    }
  }

  private void take(PolicyFiles.Sources reading, LoadResult result, long now) {
    List<Problem> problems = new ArrayList<>(reading.problems());
    problems.addAll(result.problems());
    PolicyBook book = result.book();
    if (book == null || !reading.problems().isEmpty()) {
      long errors = problems.stream().filter(p -> p.severity() == Severity.ERROR).count();
      fail(problems, errors == 1 ? "1 error" : errors + " errors");
      return;
    }
    firstLoad = false;
    boolean corrected = !store.status().lastError().isEmpty();
    store.loaded(book, problems, now);
    if (saved != null) {
      saved.save(reading.sources());
    }
    problems.forEach(PolicyReloader::log);
    RuntimeFolder runtime = runtimeOf(config);
    if (reading.sources().isEmpty() && runtime != null) { // that program logs nothing in this case
      LOG.warn("{}", MissingPolicies.in(runtime));
    }
    // The errors before were logged at any level: so is their end.
    LOG.atLevel(corrected ? Level.WARN : Level.INFO)
        .log(
            "policies loaded{} from {} (rules: {}, domains: {}, files: {})",
            corrected ? " again" : "",
            from(),
            book.rules().size(),
            book.domains().size(),
            reading.sources().size());
    listener.loaded(true);
  }

  private void fail(List<Problem> problems, String error) {
    problems.forEach(PolicyReloader::log);
    PolicyBook restored = firstLoad ? restored() : null;
    firstLoad = false;
    if (restored != null) {
      store.loadedInPart(
          restored, problems, error + "; those of an earlier process apply", time.wallMillis());
      LOG.error(
          "policies not loaded: {}; those of an earlier process apply (rules: {}, domains: {})",
          error,
          restored.rules().size(),
          restored.domains().size());
    } else {
      store.failed(problems, error);
      if (store.book() != null) {
        LOG.error("policies not loaded: {}; the last good ones remain active", error);
      } else if (!config.requireAtStart()) { // otherwise the start fails with the reasons
        LOG.error("policies not loaded: {}; none are active", error);
      }
    }
    listener.loaded(false);
  }

  /** Returns the policies that an earlier process has saved; null if there are no valid ones. */
  private @Nullable PolicyBook restored() {
    List<PolicySource> sources = saved == null ? null : saved.read();
    if (sources == null) {
      return null;
    }
    try {
      LoadResult result = loader.apply(sources);
      if (result.book() == null) { // they were valid for another version, or another configuration
        LOG.warn("the policies of an earlier process are ignored: they have errors now");
        result.problems().forEach(PolicyReloader::log);
      }
      return result.book();
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      LOG.warn("the policies of an earlier process are ignored: {}", e.toString());
      return null;
    }
  }

  /** Logs without the stack trace, which may be a thousand lines of one recursion. */
  private void failUnexpectedly(Throwable e, List<Problem> problems) {
    StackTraceElement[] trace = e.getStackTrace();
    String place = trace.length == 0 ? "" : " at " + trace[0];
    LOG.error("a fault of this program, not of the policies: {}{}", e, place);
    fail(problems, "unexpected " + e);
  }

  private static void log(Problem problem) {
    if (problem.severity() == Severity.ERROR) {
      LOG.error("{}", problem);
    } else {
      LOG.warn("{}", problem);
    }
  }

  private PolicyFiles.Sources reading() {
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

  /** Returns the folder of envoyproxy/ratelimit, when policies are read from there. */
  private static @Nullable RuntimeFolder runtimeOf(PolicyConfig config) {
    return config.paths().isEmpty() ? config.runtime() : null;
  }
}
