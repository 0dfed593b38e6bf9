package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.service.policies.LastGoodFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last good configurations in a {@link LastGoodFile}, as a {@code DiscoveryResponse}.
 *
 * <p>A thread of its own writes the file, so that a slow disk delays no policies. While a write
 * lasts, only the newest configurations wait for the next one. {@link #read} and {@link #save} are
 * for one thread at a time.
 */
final class SavedConfigs implements AutoCloseable {
  /** Name of the file in its folder. */
  static final String NAME = "xds-policies.bin";

  private static final Logger LOG = LoggerFactory.getLogger(SavedConfigs.class);
  private static final String FORMAT = "throttlekit-xds-policies 1";
  private static final Duration MAX_WAIT = Duration.ofSeconds(5); // of a stop, for a slow disk

  /** Configurations to write. */
  private record Unwritten(String version, SortedMap<String, List<RateLimitDescriptor>> domains) {}

  private final LastGoodFile file;
  private final ExecutorService writer;
  private final Duration maxWait;
  private final AtomicReference<@Nullable Unwritten> newest = new AtomicReference<>();
  private @Nullable SortedMap<String, List<RateLimitDescriptor>> written; // of the writer's thread

  /** Creates the file's representation, without touching it. */
  SavedConfigs(Path folder) {
    this(folder, oneThread(), MAX_WAIT);
  }

  SavedConfigs(Path folder, long maxBytes) {
    this(new LastGoodFile(folder.resolve(NAME), FORMAT, LOG, maxBytes), oneThread(), MAX_WAIT);
  }

  /**
   * @param writer runs the writes one after the other, and is shut down at the end
   * @param maxWait time that {@link #close} waits for the last write
   */
  SavedConfigs(Path folder, ExecutorService writer, Duration maxWait) {
    this(new LastGoodFile(folder.resolve(NAME), FORMAT, LOG), writer, maxWait);
  }

  private SavedConfigs(LastGoodFile file, ExecutorService writer, Duration maxWait) {
    this.file = file;
    this.writer = writer;
    this.maxWait = maxWait;
  }

  /** Returns a thread that starts with the first write, and does not keep the process alive. */
  private static ExecutorService oneThread() {
    return new ThreadPoolExecutor(
        1,
        1,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("xds-policies-file").factory(),
        new ThreadPoolExecutor.DiscardPolicy()); // of policies that arrive after the end
  }

  /** Returns the saved response; null if there is none, or a broken one, of which it warns. */
  @Nullable DiscoveryResponse read() {
    byte[] content = file.read();
    try {
      return content == null ? null : DiscoveryResponse.parseFrom(content);
    } catch (InvalidProtocolBufferException e) {
      file.ignored(e);
      return null;
    }
  }

  /**
   * Lets configurations be written, unless they are there already; returns without waiting. Warns
   * if they cannot be written.
   *
   * @param domains that do not change any more
   */
  void save(String version, SortedMap<String, List<RateLimitDescriptor>> domains) {
    if (newest.getAndSet(new Unwritten(version, domains)) == null) {
      writer.execute(this::write);
    }
  }

  /**
   * Waits until the newest configurations are in the file, for a limited time, and warns if they
   * are not. Nothing is saved after that.
   */
  @Override
  public void close() {
    writer.shutdown();
    boolean done = false;
    try {
      done = writer.awaitTermination(maxWait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!done) { // the write goes on, and ends with the process
      LOG.warn("{} may lack the newest policies: the disk is too slow for the stop", file);
    }
  }

  private void write() {
    Unwritten configs = newest.getAndSet(null);
    if (configs == null || configs.domains().equals(written)) {
      return;
    }
    written = configs.domains(); // if it fails, too: the next change tries again
    try {
      file.write(response(configs.version(), configs.domains()).toByteArray());
    } catch (RuntimeException | OutOfMemoryError e) {
      file.failed(e.toString());
    }
  }

  private static DiscoveryResponse response(
      String version, SortedMap<String, List<RateLimitDescriptor>> domains) {
    DiscoveryResponse.Builder response = DiscoveryResponse.newBuilder().setVersionInfo(version);
    domains.forEach((domain, descriptors) ->
        response.addResources(
            Any.pack(
                RateLimitConfig.newBuilder()
                    .setName(domain)
                    .setDomain(domain)
                    .addAllDescriptors(descriptors)
                    .build())));
    return response.build();
  }
}
