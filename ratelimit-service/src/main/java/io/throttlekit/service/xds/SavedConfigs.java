package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.service.policies.LastGoodFile;
import io.throttlekit.service.policies.LastGoodWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last good configurations in a {@link LastGoodFile}, as a {@code DiscoveryResponse}. For one
 * thread at a time.
 */
final class SavedConfigs implements AutoCloseable {
  /** Name of the file in its folder. */
  static final String NAME = "xds-policies.bin";

  private static final Logger LOG = LoggerFactory.getLogger(SavedConfigs.class);
  private static final String FORMAT = "throttlekit-xds-policies 1";

  /** Configurations to write. */
  private record Unwritten(String version, SortedMap<String, List<RateLimitDescriptor>> domains) {
    byte[] bytes() {
      return response(version, domains).toByteArray();
    }

    boolean hasDomainsOf(Unwritten other) {
      return domains.equals(other.domains);
    }
  }

  private final LastGoodFile file;
  private final LastGoodWriter<Unwritten> writer;

  /** Creates the file's representation, without touching it. */
  SavedConfigs(Path folder) {
    this(new LastGoodFile(folder.resolve(NAME), FORMAT, LOG));
  }

  SavedConfigs(Path folder, long maxBytes) {
    this(new LastGoodFile(folder.resolve(NAME), FORMAT, LOG, maxBytes));
  }

  private SavedConfigs(LastGoodFile file) {
    this.file = file;
    this.writer = new LastGoodWriter<>(file, Unwritten::bytes, Unwritten::hasDomainsOf);
  }

  /**
   * @param writer runs the writes one after the other, and is shut down at the end
   * @param maxWait time that {@link #close} waits for the last write
   */
  SavedConfigs(Path folder, ExecutorService writer, Duration maxWait) {
    this.file = new LastGoodFile(folder.resolve(NAME), FORMAT, LOG);
    this.writer =
        new LastGoodWriter<>(file, Unwritten::bytes, Unwritten::hasDomainsOf, writer, maxWait);
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
    writer.save(new Unwritten(version, domains));
  }

  /** Waits until the newest configurations are in the file, for a limited time. */
  @Override
  public void close() {
    writer.close();
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
