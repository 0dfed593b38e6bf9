package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
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
 * The last good configurations in a file, for the next process. The file consists of a line with
 * the format, its version and the SHA-256 of the rest, and a {@code DiscoveryResponse}.
 *
 * <p>A thread of its own writes the file, so that a slow disk delays no policies. While a write
 * lasts, only the newest configurations wait for the next one. {@link #read} and {@link #save} are
 * for one thread at a time.
 */
final class SavedConfigs implements AutoCloseable {
  /** Name of the file in its folder. */
  static final String NAME = "xds-policies.bin";

  private static final Logger LOG = LoggerFactory.getLogger(SavedConfigs.class);
  private static final String FORMAT = "throttlekit-xds-policies 1 ";
  private static final int HEADER = FORMAT.length() + 64 + 1; // with the digest and a line feed
  private static final long MAX_BYTES =
      128 << 20; // twice the greatest message, with last good states
  private static final int HEAP_PER_BYTE = 8; // to read, check and apply the file
  private static final Duration MAX_WAIT = Duration.ofSeconds(5); // of a stop, for a slow disk

  /** Configurations to write. */
  private record Unwritten(String version, SortedMap<String, List<RateLimitDescriptor>> domains) {}

  private final Path file;
  private final int maxBytes;
  private final ExecutorService writer;
  private final Duration maxWait;
  private final AtomicReference<@Nullable Unwritten> newest = new AtomicReference<>();
  private @Nullable SortedMap<String, List<RateLimitDescriptor>> written; // of the writer's thread
  private boolean failing; // of the writer's thread

  /** Creates the file's representation, without touching it. */
  SavedConfigs(Path folder) {
    this(folder, Math.min(MAX_BYTES, Runtime.getRuntime().maxMemory() / HEAP_PER_BYTE));
  }

  SavedConfigs(Path folder, long maxBytes) {
    this(folder, maxBytes, oneThread(), MAX_WAIT);
  }

  /**
   * @param writer runs the writes one after the other, and is shut down at the end
   * @param maxWait time that {@link #close} waits for the last write
   */
  SavedConfigs(Path folder, long maxBytes, ExecutorService writer, Duration maxWait) {
    this.file = folder.resolve(NAME);
    this.maxBytes = Math.toIntExact(maxBytes);
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
    if (Files.exists(file) && !Files.isRegularFile(file)) { // a pipe would block the start
      LOG.warn("{} is ignored: it is no regular file", file);
      return null;
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(maxBytes + 1);
      byte[] header = Arrays.copyOf(content, Math.min(HEADER, content.length));
      byte[] body = Arrays.copyOfRange(content, header.length, content.length);
      if (content.length > maxBytes) {
        LOG.warn("{} is ignored: it is larger than {} bytes", file, maxBytes);
      } else if (!Arrays.equals(header, header(body))) {
        LOG.warn("{} is ignored: it is broken, or of another version", file);
      } else {
        return DiscoveryResponse.parseFrom(body);
      }
    } catch (NoSuchFileException e) {
      LOG.info("{} does not exist yet: no policies are known from an earlier process", file);
    } catch (IOException e) { // of the file, or of what it contains
      LOG.warn("{} is ignored: it cannot be read: {}", file, e.toString());
    }
    return null;
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
      write(response(configs.version(), configs.domains()).toByteArray());
    } catch (RuntimeException | OutOfMemoryError e) {
      failed(e.toString());
    }
  }

  private void write(byte[] body) {
    if (body.length > maxBytes - HEADER) {
      failed("the policies are larger than " + maxBytes + " bytes");
      return;
    }
    Path next = file.resolveSibling(NAME + ".next");
    try {
      Files.deleteIfExists(next); // of a crash; a link or a pipe must not be written to
      // In the same folder, because only there it can replace the file in one step.
      try (OutputStream out = Files.newOutputStream(next, StandardOpenOption.CREATE_NEW)) {
        out.write(header(body));
        out.write(body);
      }
      try (FileChannel complete = FileChannel.open(next, StandardOpenOption.WRITE)) {
        complete.force(true); // or a crash could leave a name without its content
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      failing = false;
    } catch (IOException e) {
      failed(e.toString());
    }
  }

  private void failed(String why) {
    if (!failing) { // one line until it succeeds: policies may change all the time
      failing = true;
      LOG.warn("{} is not written, and a restart may lack the newest policies: {}", file, why);
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

  private static byte[] header(byte[] body) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
      String line = FORMAT + HexFormat.of().formatHex(digest) + "\n";
      return line.getBytes(StandardCharsets.US_ASCII);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
