package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.service.policies.LastGoodFile;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last good configurations in a {@link LastGoodFile}, as a {@code DiscoveryResponse}. For one
 * thread at a time.
 */
final class SavedConfigs {
  /** Name of the file in its folder. */
  static final String NAME = "xds-policies.bin";

  private static final Logger LOG = LoggerFactory.getLogger(SavedConfigs.class);
  private static final String FORMAT = "throttlekit-xds-policies 1";

  private final LastGoodFile file;
  private @Nullable SortedMap<String, List<RateLimitDescriptor>> written;

  /** Creates the file's representation, without touching it. */
  SavedConfigs(Path folder) {
    this.file = new LastGoodFile(folder.resolve(NAME), FORMAT, LOG);
  }

  SavedConfigs(Path folder, long maxBytes) {
    this.file = new LastGoodFile(folder.resolve(NAME), FORMAT, LOG, maxBytes);
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

  /** Writes configurations, unless they are there already. Warns if that is not possible. */
  void write(String version, SortedMap<String, List<RateLimitDescriptor>> domains) {
    if (!domains.equals(written)) {
      written = domains; // if it fails, too: the next change tries again
      file.write(response(version, domains).toByteArray());
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
