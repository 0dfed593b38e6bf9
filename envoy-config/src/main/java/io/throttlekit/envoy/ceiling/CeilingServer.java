package io.throttlekit.envoy.ceiling;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc.AggregatedDiscoveryServiceImplBase;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.runtime.v3.RuntimeDiscoveryServiceGrpc.RuntimeDiscoveryServiceImplBase;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.concurrency.CeilingShares;
import io.throttlekit.concurrency.CeilingShares.Grant;
import io.throttlekit.concurrency.Obedience;
import io.throttlekit.envoy.ceiling.Ceiling.Priority;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the Envoys of a fleet obey a cluster's ceiling together: each reads its share as the
 * runtime value {@code circuit_breakers.<cluster>.<priority>.max_requests}, over ADS or over a
 * runtime discovery of its own, in state-of-the-world or delta form.
 *
 * <p>{@link CeilingShares} says how a ceiling is divided and what is promised of it. Envoys are
 * told apart by their node ids: of two streams with the same id the newer is heard, and the older
 * ended. An Envoy keeps what it was told last while this server is away, and is told everything
 * again when it comes back, whatever version it says it has.
 *
 * <p>Thread-safe. Nothing here waits, for a lock neither: what is called while another thread is at
 * work is done by that thread afterwards.
 */
public final class CeilingServer {
  private static final Logger LOG = LoggerFactory.getLogger(CeilingServer.class);

  private static final class Offered {
    final CeilingShares shares;
    long obeyed;
    long changedNanos;
    long told;

    Offered(CeilingShares shares) {
      this.shares = shares;
    }

    /** Notes when what is obeyed has changed. */
    void look(long nowNanos) {
      if (shares.obeyed() != obeyed) {
        obeyed = shares.obeyed();
        changedNanos = nowNanos;
      }
    }
  }

  private final CeilingSettings settings;
  private final TimeSource time;
  private final String epoch;
  private final CeilingListener listener;
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> LOG.error("a ceiling could not be steered", e));
  private final Map<Ceiling, Offered> ceilings =
      new TreeMap<>(Comparator.comparing(Ceiling::runtimeKey));
  private final Map<String, DiscoveryStream<?, ?>> envoys = new HashMap<>();
  private volatile Map<Ceiling, Obedience> obedience = Map.of();
  private int streams;
  private long round;
  private boolean heard;
  private long heardNanos;

  /**
   * A server without ceilings.
   *
   * @param epoch what no other start of a server has; part of the versions that Envoys see
   * @param listener hears what Envoys obey
   */
  public CeilingServer(
      CeilingSettings settings, TimeSource time, String epoch, CeilingListener listener) {
    this.settings = settings;
    this.time = time;
    this.epoch = epoch;
    this.listener = listener;
  }

  /** What to add to a gRPC server; a direct executor will do. */
  public List<BindableService> services() {
    return List.of(new Aggregated(), new RuntimeAlone());
  }

  /**
   * Sets a ceiling, for the first time or anew.
   *
   * @param requests of all Envoys together, from 0, which refuses everything
   * @throws IllegalArgumentException when it is negative, or the cluster has no name
   */
  public void offer(String cluster, Priority priority, int requests) {
    Ceiling ceiling = new Ceiling(cluster, priority);
    if (requests < 0) {
      throw new IllegalArgumentException(ceiling + " is not negative, was " + requests);
    }
    within(() -> {
      Offered offered = ceilings.get(ceiling);
      if (offered == null) {
        ceilings.put(ceiling, begin(requests));
      } else if (offered.shares.ceiling() == requests) {
        return; // nothing is to be divided anew, and whoever steers says the same again and again
      } else {
        offered.shares.ceiling(requests);
      }
      goRound();
    });
  }

  /** Takes a ceiling back: Envoys then obey the threshold of their bootstraps. */
  public void withdraw(String cluster, Priority priority) {
    within(() -> {
      if (ceilings.remove(new Ceiling(cluster, priority)) != null) {
        goRound();
        envoys.values().forEach(DiscoveryStream::push);
      }
    });
  }

  /** An Envoy says what it could use: see {@link CeilingShares#reported}. */
  public void reported(Ceiling ceiling, String node, long inFlight, long refused) {
    within(() -> {
      Offered offered = ceilings.get(ceiling);
      if (offered != null) {
        offered.shares.reported(node, inFlight, refused, time.monotonicNanos());
      }
    });
  }

  /** Divides anew by what was reported; to be called a few times in each lease and turn. */
  public void tick() {
    within(this::goRound);
  }

  /** How far Envoys obeyed at the last tick, or since; null where there is no such ceiling. */
  public @Nullable Obedience obedience(Ceiling ceiling) {
    return obedience.get(ceiling);
  }

  /** Does something when nothing else is being done here. */
  void within(Runnable something) {
    one.execute(something);
  }

  long round() {
    return round;
  }

  String version(long number) {
    return epoch + "." + number;
  }

  Any layer(String node) {
    RuntimeLayer layer = new RuntimeLayer(settings.resource());
    ceilings.forEach((ceiling, offered) ->
        offered.shares.share(node).ifPresent(share -> layer.put(ceiling, share)));
    return layer.resource();
  }

  void turnAway(DiscoveryStream<?, ?> stream, Status why) {
    stream.end(why);
    listener.turnedAway();
  }

  void joined(DiscoveryStream<?, ?> stream) {
    DiscoveryStream<?, ?> older = envoys.put(stream.node(), stream);
    if (older != null) {
      LOG.warn("node {} came on a second stream, the first is ended", stream.node());
      older.end(Status.ABORTED.withDescription(stream.node() + " came on another stream"));
    } else {
      LOG.info("Envoy {} came for its ceilings (connected: {})", stream.node(), envoys.size());
    }
    ceilings.values().forEach(offered -> offered.shares.joined(stream.node()));
    goRound();
  }

  void left(DiscoveryStream<?, ?> stream) {
    if (envoys.remove(stream.node(), stream)) {
      LOG.info(
          "Envoy {} left: its shares stay reserved for up to {} s (connected: {})",
          stream.node(),
          settings.lease().toSeconds(),
          envoys.size());
      long now = time.monotonicNanos();
      ceilings.values().forEach(offered -> offered.shares.left(stream.node(), now));
      goRound();
    }
  }

  void closed(DiscoveryStream<?, ?> stream, boolean subscribed) {
    streams--;
    if (subscribed) {
      left(stream);
    }
  }

  void acknowledged(String node, long number) {
    boolean news = false;
    long now = time.monotonicNanos();
    for (Offered offered : ceilings.values()) {
      news |= offered.shares.acknowledged(node, number);
      offered.look(now);
    }
    if (news) {
      if (!heard || now - heardNanos >= settings.pause().toNanos()) {
        heard = true;
        heardNanos = now;
        goRound();
      }
    }
  }

  /** What an Envoy refused is not in force, what it had before is: both stay reserved. */
  void refused(String node, String why) {
    LOG.warn("node {} refused its ceilings: {}", node, why);
  }

  private Offered begin(int requests) {
    CeilingShares shares =
        new CeilingShares(requests, settings.lease().toNanos(), settings.turn().toNanos());
    envoys.keySet().forEach(shares::joined);
    return new Offered(shares);
  }

  private void goRound() {
    round++;
    long now = time.monotonicNanos();
    Set<String> news = new LinkedHashSet<>();
    for (Offered offered : ceilings.values()) {
      offered.shares.due(now, round).stream().map(Grant::gate).forEach(news::add);
      offered.look(now); // who left long ago is forgotten in a round
    }
    for (String node : news) {
      DiscoveryStream<?, ?> stream = envoys.get(node);
      if (stream != null) {
        stream.push();
      }
    }
    Map<Ceiling, Obedience> obeyed = HashMap.newHashMap(ceilings.size());
    ceilings.forEach((ceiling, offered) -> obeyed.put(ceiling, offered.shares.obedience()));
    obedience = obeyed;
    ceilings.forEach(this::tell);
  }

  private void tell(Ceiling ceiling, Offered offered) {
    long obeyed = offered.obeyed;
    if (obeyed != offered.told) {
      offered.told = obeyed;
      try {
        listener.obeyed(ceiling, (int) Math.min(obeyed, Integer.MAX_VALUE), offered.changedNanos);
      } catch (RuntimeException e) {
        LOG.error("nobody was told how far {} is obeyed", ceiling, e);
      }
    }
  }

  private <Q, A> StreamObserver<Q> open(Wire<Q, A> wire, StreamObserver<A> answers) {
    var call = (ServerCallStreamObserver<A>) answers; // which it is, in a server
    DiscoveryStream<Q, A> stream = new DiscoveryStream<>(wire, call, this);
    within(() -> {
      streams++;
      if (streams > settings.maxStreams()) {
        LOG.warn("an Envoy is turned away and has no share: there are {} streams", streams - 1);
        turnAway(
            stream,
            Status.RESOURCE_EXHAUSTED.withDescription(
                "no more than " + settings.maxStreams() + " streams"));
      }
    });
    return stream;
  }

  private final class Aggregated extends AggregatedDiscoveryServiceImplBase {
    @Override
    public StreamObserver<DiscoveryRequest> streamAggregatedResources(
        StreamObserver<DiscoveryResponse> answers) {
      return open(new StateOfTheWorld(settings.resource()), answers);
    }

    @Override
    public StreamObserver<DeltaDiscoveryRequest> deltaAggregatedResources(
        StreamObserver<DeltaDiscoveryResponse> answers) {
      return open(new Delta(settings.resource()), answers);
    }
  }

  private final class RuntimeAlone extends RuntimeDiscoveryServiceImplBase {
    @Override
    public StreamObserver<DiscoveryRequest> streamRuntime(
        StreamObserver<DiscoveryResponse> answers) {
      return open(new StateOfTheWorld(settings.resource()), answers);
    }

    @Override
    public StreamObserver<DeltaDiscoveryRequest> deltaRuntime(
        StreamObserver<DeltaDiscoveryResponse> answers) {
      return open(new Delta(settings.resource()), answers);
    }
  }
}
