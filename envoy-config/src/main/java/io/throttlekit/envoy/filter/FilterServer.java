package io.throttlekit.envoy.filter;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.extension.v3.ExtensionConfigDiscoveryServiceGrpc.ExtensionConfigDiscoveryServiceImplBase;
import io.grpc.SynchronizationContext;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.envoy.NodeIds;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the Envoys the rate limit filter of a domain, with the actions that its policies need,
 * over extension discovery (ECDS, state of the world). The resource {@code throttlekit/DOMAIN}
 * follows the policies. For a domain without policies it is a filter that makes no calls, so that a
 * removed policy ends its limits.
 *
 * <p>The version is a digest of the resources: it is the same on all replicas with the same
 * policies, and does not change with a restart.
 *
 * <p>The number of streams is bounded by the gRPC server. Thread-safe. Never blocks, not even on a
 * lock: calls made while another thread is at work are executed by that thread afterwards.
 */
public final class FilterServer extends ExtensionConfigDiscoveryServiceImplBase {
  private static final Logger LOG = LoggerFactory.getLogger(FilterServer.class);

  /** Characters of a version: 64 bits of a digest, of which a few differ at a time. */
  private static final int VERSION_LENGTH = 16;

  /**
   * Lines logged of each load of policies, and of rejections between two of them, so that no client
   * can fill the log.
   */
  private static final int MAX_LOGGED = 20;

  private static final int MAX_REASON = 500; // characters of a rejection in the log

  private final FilterSettings settings;
  private final Executor logger;
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> LOG.error("a filter could not be distributed", e));
  private final Set<FilterStream> open = new LinkedHashSet<>();
  private Map<String, Any> filters = Map.of();
  private int logged;
  private Set<String> incomplete = Set.of(); // domains, with the first descriptor that each lacks

  /**
   * Creates a server without policies.
   *
   * @param logger writes the lines that clients cause, which must not block their event loops
   */
  public FilterServer(FilterSettings settings, Executor logger) {
    this.settings = settings;
    this.logger = logger;
  }

  /**
   * Sends the filters of these policies to the Envoys to which they are new. Called by one thread
   * at a time.
   */
  public void follow(PolicyBook book) {
    Map<String, Any> resources = new LinkedHashMap<>();
    Set<String> lacking = new LinkedHashSet<>();
    for (String domain : book.domains()) {
      FilterActions actions = FilterActions.of(book, domain, Map.of());
      resources.put(domain, FilterResource.of(actions, settings));
      List<String> missing = actions.missing();
      if (!missing.isEmpty()) {
        lacking.add(
            "%s lacks %d of its descriptors: %s"
                .formatted(Wording.quote(domain), missing.size(), missing.getFirst()));
      }
    }
    logNew(lacking);
    within(() -> {
      filters = resources;
      logged = 0;
      List.copyOf(open).forEach(FilterStream::push);
    });
  }

  /** Logs what the policies before did not lack: a control plane repeats them with each change. */
  private void logNew(Set<String> lacking) {
    List<String> lines = new ArrayList<>(lacking);
    lines.removeAll(incomplete);
    incomplete = lacking;
    lines
        .subList(0, Math.min(MAX_LOGGED, lines.size()))
        .forEach(line -> LOG.warn("the filter that Envoys receive for {}", line));
    if (lines.size() > MAX_LOGGED) {
      LOG.warn("{} further filters lack descriptors", lines.size() - MAX_LOGGED);
    }
  }

  @Override
  public StreamObserver<DiscoveryRequest> streamExtensionConfigs(
      StreamObserver<DiscoveryResponse> answers) {
    var call = (ServerCallStreamObserver<DiscoveryResponse>) answers; // guaranteed by gRPC
    FilterStream stream = new FilterStream(call, this, NodeIds.ofCall());
    within(() -> open.add(stream));
    return stream;
  }

  /** Runs an action when no other action runs in this server. */
  void within(Runnable something) {
    one.execute(something);
  }

  /** Logs a rejection. The Envoy keeps the filter that it has. */
  void rejected(String node, String why) {
    if (logged < MAX_LOGGED) {
      logged++;
      String reason = why.replaceAll("[\\p{Cntrl}\\x{85}\\x{2028}\\x{2029}]", " ");
      String shown = reason.substring(0, Math.min(MAX_REASON, reason.length()));
      logger.execute(() -> LOG.warn("node {} rejected its filter: {}", node, shown));
    }
  }

  void closed(FilterStream stream) {
    open.remove(stream);
  }

  /** Returns the resources of these names. */
  List<Any> resources(Set<String> names) {
    List<Any> resources = new ArrayList<>();
    for (String name : names) {
      String domain = FilterResource.domain(name);
      Any filter = filters.get(domain);
      resources.add(filter != null ? filter : withoutCalls(domain));
    }
    return resources;
  }

  private Any withoutCalls(String domain) {
    return FilterResource.of(FilterActions.of(PolicyBook.of(Map.of()), domain, Map.of()), settings);
  }

  static String version(List<Any> resources) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Any resource : resources) {
        ByteString bytes = resource.toByteString();
        digest.update(Integer.toString(bytes.size()).getBytes(StandardCharsets.US_ASCII));
        digest.update(bytes.asReadOnlyByteBuffer());
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, VERSION_LENGTH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
