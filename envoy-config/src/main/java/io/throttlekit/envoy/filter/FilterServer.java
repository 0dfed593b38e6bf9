package io.throttlekit.envoy.filter;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.extension.v3.ExtensionConfigDiscoveryServiceGrpc.ExtensionConfigDiscoveryServiceImplBase;
import io.grpc.SynchronizationContext;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.Scheduler;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.envoy.NodeIds;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
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
 * <p>The number of streams is bounded by the gRPC server. Streams are answered in the order in
 * which they ask, at most {@value #TURN_BYTES} bytes in each turn of 20 ms, and the next message of
 * a stream is read when its last one was answered. So a flood takes a bounded part of the event
 * loop, and a reload for many Envoys does not fill its memory.
 *
 * <p>Thread-safe. Never blocks, not even on a lock: calls made while another thread is at work are
 * executed by that thread afterwards. Turns run on the scheduler's thread, so that no client
 * occupies the thread that loads policies.
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

  private static final Duration TURN = Duration.ofMillis(20);

  /** Maximum cost of the answers of a turn; the last one may exceed it. */
  static final int TURN_BYTES = 1 << 20;

  /** Cost of reading a message, in bytes. */
  private static final int MESSAGE_BYTES = 1 << 10;

  /** Cost of a filter beside its bytes: one of an unknown domain is short, but built each time. */
  private static final int FILTER_BYTES = 4 << 10;

  private final FilterSettings settings;
  private final Scheduler scheduler;
  private final Executor logger;
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> LOG.error("a filter could not be distributed", e));
  private final Set<FilterStream> open = new LinkedHashSet<>();
  private final Set<FilterStream> rejecting = new HashSet<>(); // of those, by their newest filter
  private final LinkedHashSet<FilterStream> due =
      new LinkedHashSet<>(); // to be answered in a later turn
  private final LongAdder sent = new LongAdder();
  private final LongAdder rejected = new LongAdder();
  private volatile int streams; // the sizes of both sets, for other threads
  private volatile int rejectingStreams;
  private Map<String, Filter> filters = Map.of();
  private int spentBytes; // in this turn
  private boolean inTurn;
  private int logged;
  private Set<String> incomplete = Set.of(); // domains, with the first descriptor that each lacks

  /**
   * A filter of a domain.
   *
   * @param digest of the resource
   */
  record Filter(Any resource, String digest) {
    static Filter of(Any resource) {
      ByteString bytes = resource.toByteString();
      return new Filter(resource, FilterServer.digest(bytes.toByteArray()));
    }

    int cost() {
      return FILTER_BYTES + resource.getValue().size();
    }
  }

  /**
   * Creates a server without policies.
   *
   * @param scheduler begins the turns; on any thread
   * @param logger writes the lines that clients cause, which must not block their event loops
   */
  public FilterServer(FilterSettings settings, Scheduler scheduler, Executor logger) {
    this.settings = settings;
    this.scheduler = scheduler;
    this.logger = logger;
  }

  /**
   * Sends the filters of these policies to the Envoys to which they are new. Called by one thread
   * at a time.
   */
  public void follow(PolicyBook book) {
    Map<String, Filter> resources = new LinkedHashMap<>();
    Set<String> lacking = new LinkedHashSet<>();
    for (String domain : book.domains()) {
      FilterActions actions = FilterActions.of(book, domain, Map.of());
      resources.put(domain, Filter.of(FilterResource.of(actions, settings)));
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
      for (FilterStream stream : List.copyOf(open)) {
        stream.outdate();
        answer(stream);
      }
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
    within(() -> {
      open.add(stream);
      streams = open.size();
    });
    return stream;
  }

  /** Returns the figures at present. */
  public FilterFigures figures() {
    return new FilterFigures(streams, rejectingStreams, sent.sum(), rejected.sum());
  }

  /** Runs an action when no other action runs in this server. */
  void within(Runnable something) {
    one.execute(something);
  }

  /** Notes that a stream was sent a filter that it has not rejected. */
  void sent(FilterStream stream) {
    sent.increment();
    rejecting.remove(stream);
    rejectingStreams = rejecting.size();
  }

  /** Notes and logs a rejection. The Envoy keeps the filter that it has. */
  void rejected(FilterStream stream, String node, String why) {
    rejected.increment();
    rejecting.add(stream);
    rejectingStreams = rejecting.size();
    if (logged < MAX_LOGGED) {
      logged++;
      String reason = why.replaceAll("[\\p{Cntrl}\\x{85}\\x{2028}\\x{2029}]", " ");
      String shown = reason.substring(0, Math.min(MAX_REASON, reason.length()));
      logger.execute(() -> LOG.warn("node {} rejected its filter: {}", node, shown));
    }
  }

  /** Answers a stream: at once, or in a later turn if this one has no room left. */
  void answer(FilterStream stream) {
    due.add(stream);
    answerDue();
  }

  private void answerDue() {
    while (!due.isEmpty() && spentBytes < TURN_BYTES) {
      spentBytes += MESSAGE_BYTES + due.removeFirst().answer();
    }
    if (spentBytes > 0 && !inTurn) {
      inTurn = true;
      scheduler.runAfter(TURN.toNanos(), () -> within(this::nextTurn));
    }
  }

  private void nextTurn() {
    inTurn = false;
    spentBytes = 0;
    answerDue();
  }

  void closed(FilterStream stream) {
    due.remove(stream);
    open.remove(stream);
    streams = open.size();
    rejecting.remove(stream);
    rejectingStreams = rejecting.size();
  }

  /** Returns the filters of these names. */
  List<Filter> filters(Set<String> names) {
    List<Filter> named = new ArrayList<>();
    for (String name : names) {
      String domain = FilterResource.domain(name);
      Filter filter = filters.get(domain);
      named.add(filter != null ? filter : withoutCalls(domain));
    }
    return named;
  }

  private Filter withoutCalls(String domain) {
    FilterActions none = FilterActions.of(PolicyBook.of(Map.of()), domain, Map.of());
    return Filter.of(FilterResource.of(none, settings));
  }

  /** Returns the version of an answer with these filters. */
  static String version(List<Filter> filters) {
    StringBuilder digests = new StringBuilder();
    filters.forEach(filter -> digests.append(filter.digest()));
    return digest(digests.toString().getBytes(StandardCharsets.US_ASCII))
        .substring(0, VERSION_LENGTH);
  }

  private static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
