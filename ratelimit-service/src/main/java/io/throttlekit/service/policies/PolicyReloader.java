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
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
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
  private final PolicyLoader loader;
  private final ScheduledExecutorService timer;

  private @Nullable Fingerprint seen; // at the last look
  private @Nullable Fingerprint taken; // when the files were last read
  private @Nullable List<PolicySource> read;

  /** Hears of every load. */
  public interface Listener {

    /** Files were loaded, or could not be; the store says what is in force now. */
    void loaded(boolean good);
  }

  /** A reloader that has not looked yet. */
  public PolicyReloader(
      PolicyConfig config, PolicyStore store, TimeSource time, Listener listener) {
    this.config = config;
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.loader = new PolicyLoader(new LoadOptions(config.mergeDomains()));
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
    List<PolicySource> sources;
    try {
      sources = sources();
    } catch (IOException e) {
      return !(same && read == null) && unreadable(e);
    }
    if (sources.equals(read)) {
      return false;
    }
    read = sources;
    load(sources, now);
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

  private boolean unreadable(IOException e) {
    read = null; // whatever is read next is a change
    fail(List.of(), String.valueOf(e.getMessage()));
    return true;
  }

  private void load(List<PolicySource> sources, long now) {
    LoadResult result = loader.load(sources);
    PolicyBook book = result.book();
    if (book == null) {
      long errors = result.problems().stream().filter(p -> p.severity() == Severity.ERROR).count();
      fail(result.problems(), errors == 1 ? "1 error" : errors + " errors");
      return;
    }
    store.loaded(book, result.problems(), now);
    result.problems().forEach(problem -> LOG.warn("{}", problem));
    LOG.info(
        "policies loaded: {} rules in {} domains from {} files",
        book.rules().size(),
        book.domains().size(),
        sources.size());
    listener.loaded(true);
  }

  private void fail(List<Problem> problems, String error) {
    store.failed(problems, error);
    problems.forEach(problem -> LOG.error("{}", problem));
    LOG.error(
        "policies not loaded: {}; {}",
        error,
        store.book() == null ? "none are in force" : "the last good ones stay in force");
    listener.loaded(false);
  }

  private List<PolicySource> sources() throws IOException {
    RuntimeFolder runtime = config.runtime();
    return config.paths().isEmpty() && runtime != null
        ? PolicyFiles.readRuntime(
            runtime.root(),
            runtime.subdirectory(),
            runtime.appDirectory(),
            runtime.watchRoot(),
            runtime.ignoreDotFiles())
        : PolicyFiles.read(config.paths());
  }

  private List<Path> watched() {
    RuntimeFolder runtime = config.runtime();
    return config.paths().isEmpty() && runtime != null
        ? List.of(Path.of(runtime.root() + "/" + runtime.subdirectory()))
        : config.paths();
  }
}
