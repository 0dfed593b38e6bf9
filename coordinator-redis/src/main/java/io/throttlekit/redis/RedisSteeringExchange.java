package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.store.StoreListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An exchange of steering in Redis: a single server, one behind Sentinels, or a Cluster, by Redis's
 * own clock.
 *
 * <p>A visit is one script, and all its keys are in one slot of a Cluster. A visit fails at the
 * lease deadline of the settings; it may have taken effect. Loss of data loses the lease, the
 * record and the reports that wait: the next visitor steers, in a later epoch.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisSteeringExchange extends RedisFederation implements SteeringExchange {
  private static final Script VISIT = Script.ofFederation("steering_exchange");

  /** Replicas that share a store have one lease, and one slot of a Cluster. */
  private static final String WHOLE = "steering";

  /** The part of a reply at which the reports begin. */
  private static final int REPORTS = 7;

  private final Place place;

  /** Creates an exchange, possibly with a test's clock. */
  RedisSteeringExchange(Setup setup) {
    super(List.of(VISIT), setup);
    this.place = keys.of(WHOLE);
  }

  /**
   * Creates an exchange, with a connection for each event loop.
   *
   * @param group loops of a server, of the transport that Lettuce uses here; not shut down by the
   *     exchange. Null for a loop of its own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisSteeringExchange connect(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisSteeringExchange(new Setup(settings, time, listener, group, null));
  }

  @Override
  public CompletionStage<Answer> visit(Visit visit) {
    List<byte[]> rows = List.of(place.key(WHOLE, "state"), place.key(WHOLE, "reports"));
    ScriptCall<Answer> call =
        new ScriptCall<>(VISIT, place, rows, leaseDeadline(), false, RedisSteeringExchange::answer);
    call.with(visit.replica()).with(visit.incarnation()).with(visit.leaving() ? 1 : 0);
    call.with(visit.report()).with(visit.knownEpoch()).with(visit.knownVersion());
    Record record = visit.record();
    if (record == null) {
      call.with(0).with(0).with("");
    } else {
      call.with(record.epoch()).with(record.version()).with(record.text());
    }
    return run(call);
  }

  private static Answer answer(ScriptCall.Reply reply) {
    long epoch = reply.number(4);
    Record record = epoch == 0 ? null : new Record(epoch, reply.number(5), reply.text(6));
    List<Report> reports = new ArrayList<>();
    for (int i = REPORTS; i < reply.size(); i += 2) {
      reports.add(new Report(reply.text(i), reply.text(i + 1)));
    }
    return new Answer(
        reply.text(0), reply.number(1), reply.number(2) == 1, record, reports, reply.number(3));
  }
}
