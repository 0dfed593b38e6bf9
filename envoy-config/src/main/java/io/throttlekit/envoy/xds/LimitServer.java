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
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.NodeIds;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the Envoys of one replica their shares of concurrency limits. Each reads its share as the
 * runtime value {@code circuit_breakers.<cluster>.<priority>.max_requests}, over ADS or over a
 * runtime discovery service (RTDS) of its own, in state-of-the-world or delta form.
 *
 * <p>{@link LimitDivision} divides the limits, on the replica that steers, by what all replicas
 * report ({@link #streams}); its plans arrive at {@link #apply}. While no replica is reachable, an
 * Envoy keeps the last share it received. On connection to any replica it receives everything
 * again, whatever version it reports; by that version it is recognized as the same Envoy, even
 * while its older stream is still open.
 *
 * <p>Messages of clients cause reports at most once in each pause, and are read no faster. Log
 * lines that clients cause are bounded in number, and written by {@link #tick}.
 *
 * <p>Thread-safe. Never blocks, not even on a lock: calls made while another thread is at work are
 * executed by that thread afterwards.
 */
public final class LimitServer {
  /** Longest version, in characters: a longer one was not issued by any replica. */
  static final int MAX_VERSION = 100;

  private static final Logger LOG = LoggerFactory.getLogger(LimitServer.class);

  private static final Status CUT_OFF =
      Status.UNAVAILABLE.withDescription(
          "this replica has lost its connection to the others: connect to another one");

  private final LimitServerSettings settings;
  private final TimeSource time;
  private final Scheduler timer;
  private final Runnable changed;
  private final SecureRandom random = new SecureRandom();
  private final Notices notices = new Notices();
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> LOG.error("a limit could not be distributed", e));
  private final Set<DiscoveryStream<?, ?>> open = new LinkedHashSet<>();
  private final Subscriptions subscriptions = new Subscriptions();
  private final Set<DiscoveryStream<?, ?>> read = new LinkedHashSet<>();
  private final Set<DiscoveryStream<?, ?>> unsettled = new LinkedHashSet<>();
  private final Set<DiscoveryStream<?, ?>> ungreeted = new LinkedHashSet<>();
  private final LongAdder rejected = new LongAdder();
  private volatile int sharedNodes;
  private volatile long joins;
  private SharePlan plan = SharePlan.EMPTY;
  private String epoch = "0";
  private boolean isCutOff;
  private boolean newsOnce;
  private long newsNanos;
  private boolean newsAreDue;

  /** The streams that had joined when a visit began. */
  public record Mark(long joined) {}

  /**
   * Shares of an Envoy.
   *
   * @param number of the newest grant among them
   */
  record Layer(Map<ClusterLimit, Integer> shares, long number) {}

  /**
   * Creates a server without limits.
   *
   * @param timer ends the pauses; on any thread
   * @param changed called when the streams have news for the steering replica: joined, left or
   *     acknowledged; at once, or at the end of a pause that gathers them. Called by one thread at
   *     a time, must not block, and may call this server
   */
  public LimitServer(
      LimitServerSettings settings, TimeSource time, Scheduler timer, Runnable changed) {
    this.settings = settings;
    this.time = time;
    this.timer = timer;
    this.changed = changed;
  }

  /**
   * Returns the services to add to a gRPC server, ADS and RTDS; a direct executor is sufficient.
   */
  public List<BindableService> services() {
    return Wire.services(this, settings.resource());
  }

  /** Returns the mark of a visit that is about to begin, which {@link #apply} needs afterwards. */
  public Mark begin() {
    return new Mark(joins);
  }

  /**
   * Returns the subscribed streams; at least those of a mark that was taken before, unless they
   * ended. A process that shuts down, and so ends its streams itself, should not report that they
   * ended: their Envoys still apply their shares.
   */
  public List<StreamState> streams() {
    return subscriptions.states();
  }

  /**
   * Pushes the shares of a plan to the streams to which they are new. A stream is sent its first
   * share only from the answer of a visit that began after it had joined: an older plan could grant
   * it what was given to others since.
   *
   * @param plan newest one that was published, whether or not it was applied before; one older than
   *     the last is ignored
   * @param publishedIn epoch in which it was published; the first part of versions that Envoys see
   * @param mark of the visit that returned or published the plan
   */
  public void apply(SharePlan plan, String publishedIn, Mark mark) {
    within(() -> {
      if (plan.number() < this.plan.number()) {
        return;
      }
      boolean isNew = plan.number() > this.plan.number();
      this.plan = plan;
      this.epoch = publishedIn;
      if (isNew) {
        List.copyOf(subscriptions.all()).forEach(DiscoveryStream::push);
      }
      List.copyOf(ungreeted).stream()
          .filter(stream -> stream.greet(mark))
          .forEach(ungreeted::remove);
    });
  }

  /**
   * Ends all streams with UNAVAILABLE, and rejects new ones until {@link #reachable}, so that their
   * Envoys connect to another replica. Has no effect the second time.
   */
  public void cutOff() {
    within(() -> {
      if (!isCutOff) {
        isCutOff = true;
        int streams = open.size();
        List.copyOf(open).forEach(stream -> stream.end(CUT_OFF));
        notices.add(() ->
            LOG.warn("cut off from the other replicas: {} streams of Envoys are ended", streams));
      }
    });
  }

  /** Accepts streams again. */
  public void reachable() {
    within(() -> isCutOff = false);
  }

  /**
   * Writes the log lines that clients caused, and subscribes those that had to wait. To be called
   * about twice a second, and not on an event loop.
   */
  public void tick() {
    within(() -> {
      List<DiscoveryStream<?, ?>> waiting = List.copyOf(unsettled);
      unsettled.clear();
      waiting.forEach(stream -> stream.settle(nowNanos()));
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

  /** Returns the number of node ids with more than one open stream on this replica. */
  public int sharedNodes() {
    return sharedNodes;
  }

  /** Opens a stream of a client. */
  <Q, A> StreamObserver<Q> open(Wire<Q, A> wire, StreamObserver<A> answers) {
    var call = (ServerCallStreamObserver<A>) answers; // guaranteed by gRPC on the server side
    DiscoveryStream<Q, A> stream = new DiscoveryStream<>(wire, call, this, NodeIds.ofCall());
    within(() -> {
      open.add(stream);
      if (isCutOff) {
        stream.end(CUT_OFF);
      }
    });
    return stream;
  }

  /** Runs an action when no other action runs in this server. */
  void within(Runnable something) {
    one.execute(something);
  }

  /** Returns the number of the plan. */
  long number() {
    return plan.number();
  }

  String version(String token) {
    return epoch + "." + plan.number() + "." + token;
  }

  String newToken() {
    return HexFormat.of().toHexDigits(random.nextLong());
  }

  /** Returns the shares of a stream; null while the plan has limits, and none for it. */
  @Nullable Layer layer(DiscoveryStream<?, ?> stream) {
    SharePlan.Part part = plan.part(stream.node(), stream.token());
    if (part != null) {
      return new Layer(part.granted(), part.number());
    }
    return plan.limits().isEmpty() ? new Layer(Map.of(), 0) : null;
  }

  /**
   * Returns the runtime values of shares. They are whole numbers from 0: Envoy acknowledges other
   * values too, and then applies the threshold of its bootstrap. Without any share the layer is
   * empty, which removes earlier ones.
   */
  Any resource(Layer layer) {
    Struct.Builder values = Struct.newBuilder();
    layer
        .shares()
        .forEach((limit, share) ->
            values.putFields(limit.runtimeKey(), Value.newBuilder().setNumberValue(share).build()));
    return Any.pack(Runtime.newBuilder().setName(settings.resource()).setLayer(values).build());
  }

  long turnNanos() {
    return settings.turn().toNanos();
  }

  /**
   * Returns the status for an Envoy beyond the maximum number of streams; null where there is room.
   */
  @Nullable Status full() {
    return open.size() <= settings.maxStreams() // the new stream is counted already
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

  /** Adds a subscribed stream, and returns its number, in the order in which they joined. */
  long join(DiscoveryStream<?, ?> stream) {
    DiscoveryStream<?, ?> older = subscriptions.add(stream);
    if (older != null) {
      ungreeted.remove(older);
      older.succeeded();
    }
    ungreeted.add(stream);
    sharedNodes = subscriptions.sharedNodes();
    long joined = joins + 1;
    joins = joined; // after the stream can be read by streams()
    String node = stream.node();
    int same = subscriptions.count(node);
    int all = subscriptions.all().size();
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
    reportSoon();
    return joined;
  }

  void left(DiscoveryStream<?, ?> stream) {
    unsettled.remove(stream);
    ungreeted.remove(stream);
    if (subscriptions.remove(stream)) {
      sharedNodes = subscriptions.sharedNodes();
      int all = subscriptions.all().size();
      String node = stream.node();
      notices.add(() ->
          LOG.info(
              "Envoy {} left: its shares stay reserved for up to {} s (connected: {})",
              node,
              settings.lease().toSeconds(),
              all));
      reportSoon();
    }
  }

  void closed(DiscoveryStream<?, ?> stream) {
    open.remove(stream);
  }

  /** Replaces the state of a subscribed stream. */
  void updated(DiscoveryStream<?, ?> stream) {
    subscriptions.update(stream);
  }

  void acknowledged(DiscoveryStream<?, ?> stream) {
    subscriptions.update(stream);
    reportSoon();
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

  /** Reports at once if a pause has passed since the last time, else when it has. */
  private void reportSoon() {
    long wait = newsOnce ? newsNanos + settings.pause().toNanos() - nowNanos() : 0;
    if (wait <= 0) {
      report();
    } else if (!newsAreDue) {
      newsAreDue = true;
      timer.runAfter(
          wait,
          () ->
              within(() -> {
                newsAreDue = false;
                report();
              }));
    }
  }

  private void report() {
    newsOnce = true;
    newsNanos = nowNanos();
    changed.run();
  }
}
