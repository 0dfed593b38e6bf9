package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.store.StoreListener;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An exchange of releases in Redis: a single server, one behind Sentinels, or a Cluster, by Redis's
 * own clock.
 *
 * <p>A call is one script. All queues are in one slot of a Cluster, because a script appends to
 * several of them. A call fails at the lease deadline of the settings; it may have taken effect.
 * Loss of data loses the releases that wait, and the processes until their next calls.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisReleaseExchange extends RedisFederation implements ReleaseExchange {
  private static final Script EXCHANGE = Script.ofFederation("release_exchange");
  private static final Script CLAIM = Script.ofFederation("release_claim");

  /** The part of a reply at which the releases begin. */
  private static final int RELEASES = 3;

  private final Place place;

  /** Creates an exchange, possibly with a test's clock. */
  RedisReleaseExchange(Setup setup) {
    super(List.of(EXCHANGE, CLAIM), setup);
    this.place = keys.of("releases");
  }

  /**
   * Creates an exchange, with a connection for each event loop.
   *
   * @param group loops of a server, of the transport that Lettuce uses here; not shut down by the
   *     exchange. Null for a loop of its own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisReleaseExchange connect(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisReleaseExchange(new Setup(settings, time, listener, group, null));
  }

  @Override
  public CompletionStage<Delivery> exchange(String address, long receipt, List<Release> outgoing) {
    ReleaseExchange.requireValid(address, outgoing);
    Map<String, List<String>> byAddress = new LinkedHashMap<>();
    for (Release release : outgoing) {
      byAddress.computeIfAbsent(release.address(), _ -> new ArrayList<>()).add(release.text());
    }
    List<byte[]> rows = new ArrayList<>();
    addRows(address, rows);
    byAddress.keySet().forEach(recipient -> addRows(recipient, rows));
    ScriptCall<Delivery> call =
        new ScriptCall<>(
            EXCHANGE, place, rows, leaseDeadline(), false, RedisReleaseExchange::delivery);
    call.with(receipt).with(byAddress.size());
    for (List<String> texts : byAddress.values()) {
      call.with(texts.size());
      texts.forEach(call::with);
    }
    return run(call);
  }

  @Override
  public CompletionStage<List<String>> claim(String address) {
    Release.requireAddress(address);
    List<byte[]> rows = new ArrayList<>();
    addRows(address, rows);
    return run(
        new ScriptCall<>(CLAIM, place, rows, leaseDeadline(), false, reply -> releases(reply, 0)));
  }

  private void addRows(String address, List<byte[]> rows) {
    rows.add(place.key("process", address));
    rows.add(place.key("releases", address));
  }

  private static Delivery delivery(ScriptCall.Reply reply) {
    return new Delivery(
        reply.number(0), releases(reply, RELEASES), reply.number(1), reply.number(2));
  }

  private static List<String> releases(ScriptCall.Reply reply, int from) {
    List<String> releases = new ArrayList<>();
    for (int i = from; i < reply.size(); i++) {
      releases.add(reply.text(i));
    }
    return releases;
  }
}
