package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.Timer;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.Parts.Part;
import io.throttlekit.share.Acknowledgements;
import io.throttlekit.share.LimitShares;
import io.throttlekit.share.LimitShares.Grant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Distributes a cluster's concurrency limit over the Envoys of a fleet. Each reads its share as the
 * runtime value {@code circuit_breakers.<cluster>.<priority>.max_requests}, over ADS or over a
 * runtime discovery service (RTDS) of its own, in state-of-the-world or delta form.
 *
 * <p>{@link LimitShares} defines how a limit is divided, and its guarantees. Envoys are identified
 * by their node ids: streams with the same id divide its share, and none of them ends another.
 * While this server is unreachable, an Envoy keeps the last share it received. On reconnection it
 * receives everything again, whatever version it reports; by that version it is recognized as the
 * same Envoy, even while its older stream is still open.
 *
 * <p>Messages of clients cause shares to be divided at most once in each pause, and are read no
 * faster. Log lines that clients cause are bounded in number, and written by {@link #tick}.
 *
 * <p>Thread-safe. Never blocks, not even on a lock: calls made while another thread is at work are
 * executed by that thread afterwards.
 */
public final class LimitServer {
  private static final Logger LOG = LoggerFactory.getLogger(LimitServer.class);

  private final LimitServerSettings settings;
  private final TimeSource time;
  private final String epoch;
  private final LimitServerListener listener;
  private final Timer timer;
  private final Notices notices = new Notices();
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> LOG.error("a limit could not be distributed", e));
  private final Map<ClusterLimit, OfferedLimit> limits =
      new TreeMap<>(Comparator.comparing(ClusterLimit::runtimeKey));
  private final Parts parts = new Parts();
  private final Set<DiscoveryStream<?, ?>> read = new LinkedHashSet<>();
  private final Set<DiscoveryStream<?, ?>> unsettled = new LinkedHashSet<>();
  private final Set<DiscoveryStream<?, ?>> ungreeted = new LinkedHashSet<>();
  private final LongAdder rejected = new LongAdder();
  private volatile int sharedNodes;
  private volatile Map<ClusterLimit, Acknowledgements> acknowledgements = Map.of();
  private volatile Map<ClusterLimit, Map<String, Long>> reserved = Map.of();
  private int streams;
  private long round;
  private long roundNanos;
  private boolean roundIsDue;

  /**
   * Creates a server without limits.
   *
   * @param epoch unique to this start of the server; part of the versions that Envoys see
   * @param listener notified of acknowledged limits
   * @param timer ends the pauses; on any thread
   */
  public LimitServer(
      LimitServerSettings settings,
      TimeSource time,
      String epoch,
      LimitServerListener listener,
      Timer timer) {
    this.timer = timer;
    this.settings = settings;
    this.time = time;
    this.epoch = epoch;
    this.listener = listener;
  }

  /**
   * Creates a server without a plan. (Skeleton: replaces the constructor above.)
   *
   * @param changed called when the streams have news for the steering replica: joined, left or
   *     acknowledged; at once, or at the end of a pause that gathers. Called by one thread at a
   *     time, must not block, and may call this server
   */
  public LimitServer(
      LimitServerSettings settings, TimeSource time, Timer timer, Runnable changed) {
    throw new UnsupportedOperationException("skeleton");
  }

  /** The moment at which a visit began, as far as streams had joined. */
  public record Mark(long joined) {}

  /** Returns the mark of a visit that is about to begin. */
  public Mark begin() {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Returns all streams that are subscribed, as of now or a moment before. A server that ends its
   * streams itself should not report them as ended: their Envoys still apply their shares.
   */
  public List<StreamState> streams() {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Pushes the shares of a plan to the streams for which they are new. A stream gets its first
   * share only from the answer of a visit that began after it joined: an older plan could grant it
   * what was given to others since.
   *
   * @param plan newest one that was published, whether or not it was applied before; an older one
   *     than before is ignored
   * @param epoch in which it was published; the first part of versions that Envoys see
   * @param mark of the visit that returned, or published, the plan
   */
  public void apply(SharePlan plan, String epoch, Mark mark) {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Ends all streams with UNAVAILABLE, and rejects new ones, so that their Envoys connect to
   * another replica. Has no effect the second time.
   */
  public void cutOff() {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Accepts streams again. */
  public void reachable() {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Returns the services to add to a gRPC server, ADS and RTDS; a direct executor is sufficient.
   */
  public List<BindableService> services() {
    return Wire.services(this, settings.resource());
  }

  /**
   * Sets a concurrency limit, new or changed.
   *
   * @param requests limit for all Envoys together, from 0, which refuses everything
   * @throws IllegalArgumentException when it is negative, or the cluster has no name
   */
  public void offer(String cluster, Priority priority, int requests) {
    ClusterLimit limit = new ClusterLimit(cluster, priority);
    if (requests < 0) {
      throw new IllegalArgumentException(limit + " is not negative, was " + requests);
    }
    within(() -> {
      OfferedLimit offered = limits.get(limit);
      if (offered == null) {
        LimitShares shares =
            new LimitShares(requests, settings.lease().toNanos(), settings.turn().toNanos());
        parts.forEachOpen(part -> shares.joined(part.name, part.node));
        limits.put(limit, new OfferedLimit(shares));
      } else if (offered.shares.limit() == requests) {
        return; // unchanged: limits are offered again at each tick
      } else {
        offered.shares.limit(requests);
      }
      goRoundSoon();
    });
  }

  /** Removes a limit: Envoys then apply the threshold of their bootstraps. */
  public void withdraw(String cluster, Priority priority) {
    within(() -> {
      if (limits.remove(new ClusterLimit(cluster, priority)) != null) {
        goRound();
        parts.forEachOpen(part -> Objects.requireNonNull(part.stream).push());
      }
    });
  }

  /** Records the demand that an Envoy reports; see {@link LimitShares#reported}. */
  public void reported(ClusterLimit limit, String node, long inFlight, long refused) {
    within(() -> {
      OfferedLimit offered = limits.get(limit);
      if (offered != null) {
        offered.shares.reported(node, inFlight, refused, nowNanos());
      }
    });
  }

  /**
   * Divides the limits again by the reported demand, and writes the log lines that clients caused.
   * To be called a few times in each lease and turn, and not on an event loop.
   */
  public void tick() {
    within(() -> {
      List<DiscoveryStream<?, ?>> waiting = List.copyOf(unsettled);
      unsettled.clear();
      waiting.forEach(stream -> stream.settle(nowNanos()));
      goRound();
      Map<ClusterLimit, Map<String, Long>> all = HashMap.newHashMap(limits.size());
      limits.forEach((limit, offered) -> all.put(limit, offered.shares.reservedById()));
      reserved = all;
    });
    notices.write();
  }

  /**
   * Returns how many streams were ended at their first message, because there were too many or they
   * named no node id that they may use. Their Envoys have no share.
   */
  public long rejected() {
    return rejected.sum();
  }

  /** Returns the number of node ids with more than one open stream. */
  public int sharedNodes() {
    return sharedNodes;
  }

  /**
   * Returns how much of a limit was acknowledged at the last tick, or since; null for an unknown
   * limit.
   */
  public @Nullable Acknowledgements acknowledgements(ClusterLimit limit) {
    return acknowledgements.get(limit);
  }

  /**
   * Returns how many requests each Envoy may have in flight by its shares, by node id, at the last
   * tick; an id that is not in it has no share. Empty for an unknown limit.
   */
  public Map<String, Long> reserved(ClusterLimit limit) {
    return reserved.getOrDefault(limit, Map.of());
  }

  /** Runs an action when no other action runs in this server. */
  void within(Runnable something) {
    one.execute(something);
  }

  long round() {
    return round;
  }

  String version(long number, Part part) {
    return epoch + "." + number + "." + part.token;
  }

  /**
   * Returns the runtime values of a part. Shares are whole numbers from 0: Envoy acknowledges other
   * values too, and then applies the threshold of its bootstrap. Without any value the layer is
   * empty, which removes earlier ones.
   */
  Any layer(Part part) {
    Struct.Builder values = Struct.newBuilder();
    limits.forEach((limit, offered) ->
        offered
            .shares
            .share(part.name)
            .ifPresent(share ->
                values.putFields(
                    limit.runtimeKey(), Value.newBuilder().setNumberValue(share).build())));
    return Any.pack(Runtime.newBuilder().setName(settings.resource()).setLayer(values).build());
  }

  long turnNanos() {
    return settings.turn().toNanos();
  }

  /**
   * Returns the status for an Envoy beyond the maximum number of streams; null where there is room.
   */
  @Nullable Status full() {
    return streams <= settings.maxStreams() // the new stream is counted already
        ? null
        : Status.RESOURCE_EXHAUSTED.withDescription(
            "no more than " + settings.maxStreams() + " streams");
  }

  void reject(DiscoveryStream<?, ?> stream, String node, Status why) {
    stream.end(why);
    rejected.increment();
    String name = NodeIds.isUsable(node) ? node : "without a usable id";
    String reason = String.valueOf(why.getDescription());
    notices.add(() -> LOG.warn("Envoy {} was rejected and has no share: {}", name, reason));
  }

  /** Lets a stream read further messages: at once, or after a pause. */
  void readMoreLater(DiscoveryStream<?, ?> stream) {
    if (settings.pause().isZero()) {
      stream.readMore();
    } else if (read.add(stream) && read.size() == 1) {
      timer.runAfter(settings.pause().toNanos(), () -> within(this::readMore));
    }
  }

  long nowNanos() {
    return time.monotonicNanos();
  }

  /** Settles a stream at a later tick. */
  void settleLater(DiscoveryStream<?, ?> stream) {
    unsettled.add(stream);
  }

  void join(DiscoveryStream<?, ?> stream, String version) {
    String node = stream.node();
    Part part = parts.claim(stream, version);
    stream.assign(part);
    ungreeted.add(stream);
    sharedNodes = parts.sharedNodes();
    int same = parts.streams(node);
    int all = parts.open();
    notices.add(() -> {
      if (same > 1) {
        LOG.warn(
            "node id {} has {} streams, which divide its share: give each Envoy its own",
            node,
            same);
      } else {
        LOG.info("Envoy {} subscribed to its limits (connected: {})", node, all);
      }
    });
    limits.values().forEach(offered -> offered.shares.joined(part.name, node));
    goRoundSoon();
  }

  void left(DiscoveryStream<?, ?> stream) {
    unsettled.remove(stream);
    ungreeted.remove(stream);
    Part part = parts.release(stream);
    if (part != null) {
      sharedNodes = parts.sharedNodes();
      int all = parts.open();
      notices.add(() ->
          LOG.info(
              "Envoy {} left: its shares stay reserved for up to {} s (connected: {})",
              part.node,
              settings.lease().toSeconds(),
              all));
      long now = nowNanos();
      limits.values().forEach(offered -> offered.shares.left(part.name, now));
      goRoundSoon();
    }
  }

  void closed() {
    streams--;
  }

  void acknowledged(Part part, long number) {
    boolean news = false;
    long now = nowNanos();
    for (OfferedLimit offered : limits.values()) {
      news |= offered.shares.acknowledged(part.name, number);
      offered.look(now);
    }
    if (news) {
      goRoundSoon();
    }
  }

  /** Logs a rejection. The rejected share and the one before it both stay reserved. */
  void refused(String node, String why) {
    notices.add(() -> LOG.warn("node {} rejected its limits: {}", node, why));
  }

  private void readMore() {
    List<DiscoveryStream<?, ?>> due = List.copyOf(read);
    read.clear();
    due.forEach(DiscoveryStream::readMore);
  }

  /** Starts a round at once if a pause has passed since the last one, else when it has. */
  private void goRoundSoon() {
    // The first round is due at once; later ones gather for a pause.
    long wait = round == 0 ? 0 : roundNanos + settings.pause().toNanos() - nowNanos();
    if (wait <= 0) {
      goRound();
    } else if (!roundIsDue) {
      roundIsDue = true;
      timer.runAfter(
          wait,
          () ->
              within(() -> {
                roundIsDue = false;
                goRound();
              }));
    }
  }

  private void goRound() {
    round++;
    long now = nowNanos();
    roundNanos = now;
    Set<String> news = new LinkedHashSet<>();
    for (OfferedLimit offered : limits.values()) {
      offered.shares.due(now, round).stream().map(Grant::limiter).forEach(news::add);
      offered.look(now); // a round also ends reservations of streams that left
    }
    // After the shares are up to date: a part is kept while something is reserved for it.
    parts.forget(part ->
        limits.values().stream().anyMatch(offered -> offered.shares.share(part.name).isPresent()));
    for (String part : news) {
      DiscoveryStream<?, ?> stream = parts.stream(part);
      if (stream != null) {
        stream.push();
      }
    }
    List<DiscoveryStream<?, ?>> first = List.copyOf(ungreeted);
    ungreeted.clear();
    first.forEach(DiscoveryStream::greet);
    Map<ClusterLimit, Acknowledgements> acknowledged = HashMap.newHashMap(limits.size());
    limits.forEach((limit, offered) -> acknowledged.put(limit, offered.shares.acknowledgements()));
    acknowledgements = acknowledged;
    limits.forEach((limit, offered) -> offered.notify(limit, listener, notices));
  }

  /** Opens a stream of a client. */
  <Q, A> StreamObserver<Q> open(Wire<Q, A> wire, StreamObserver<A> answers) {
    var call = (ServerCallStreamObserver<A>) answers; // guaranteed by gRPC on the server side
    within(() -> streams++);
    return new DiscoveryStream<>(wire, call, this, NodeIds.ofCall());
  }
}
