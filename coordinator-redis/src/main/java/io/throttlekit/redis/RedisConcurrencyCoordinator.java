package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Remnant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.StoreListener;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Concurrency limits in Redis: a single server, one behind Sentinels, or a Cluster, by Redis's own
 * clock.
 *
 * <p>A call is one script, which takes time in proportion to the nodes of the limit. Each of them
 * calls, so the load of Redis grows with the square of their number. A call fails only when its
 * connection is lost: an answer counts however late it arrives, and a heartbeat may be repeated.
 * While Redis does not answer, calls fail at once, except for a few probes. The coordinator
 * recovers by itself.
 *
 * <p>A limit is kept for an hour after its last heartbeat, so that a fleet that was away continues
 * with it.
 *
 * <p>Each heartbeat follows the terms of its own coordinator. So new terms may be rolled out node
 * by node: until the last one has them, the limit may change with each heartbeat, and the sum of
 * what is reserved is below the largest of these limits.
 *
 * <p>After a loss of data, the nodes' shares from before are not known: until each node has sent a
 * heartbeat or its lease has ended, requests in flight may reach twice the limit. The same holds
 * for a replica with older data that has become the master. A clock that steps ahead, as after such
 * a failover, ends leases early by as much: the nodes' margin has to be larger.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisConcurrencyCoordinator extends RedisFederation
    implements ConcurrencyCoordinator {
  private static final Script HEARTBEAT = Script.ofFederation("fleet", "fleet_heartbeat");
  private static final Script DEPARTURE = Script.ofFederation("fleet", "fleet_departure");
  private static final Script RELEASED = Script.ofFederation("fleet", "fleet_released");

  private static final int INCARNATION_LENGTH = 17; // a colon and 16 digits
  private static final int HEXADECIMAL = 16;

  /** The part of a heartbeat's reply that is the number of remnants; these, then digests follow. */
  private static final int REMNANTS = 10;

  private static final int DIGEST_NUMBERS = 8; // before the latencies
  private static final int MAX_DIGEST_PARTS = DIGEST_NUMBERS + SampleDigest.MAX_LATENCIES + 1;

  private final Coordination terms;

  /** Creates a coordinator, possibly with a test's clock. */
  RedisConcurrencyCoordinator(Coordination terms, Setup setup) {
    super(List.of(HEARTBEAT, DEPARTURE, RELEASED), setup);
    this.terms = terms;
  }

  /**
   * Creates a coordinator, with a connection for each event loop.
   *
   * @param terms for the heartbeats of this coordinator's nodes
   * @param group loops of a server, of the transport that Lettuce uses here (epoll if its library
   *     is on the class path, else NIO); not shut down by the coordinator. Null for a loop of its
   *     own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisConcurrencyCoordinator connect(
      RedisSettings settings,
      Coordination terms,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisConcurrencyCoordinator(terms, new Setup(settings, time, listener, group, null));
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(Heartbeat beat) {
    Publication published = beat.publication();
    SampleDigest digest = beat.digest();
    return run(
        call(HEARTBEAT, beat.key(), RedisConcurrencyCoordinator::grant)
            .with(name(beat.node(), beat.incarnation()))
            .with(terms.aggregate().name())
            .with(terms.allocation().name())
            .with(terms.acknowledged() ? 1 : 0)
            .with(beat.sequence())
            .with(beat.localLimit())
            .with(beat.sampled() ? 1 : 0)
            .with(beat.inFlight())
            .with(beat.peak())
            .with(beat.refused() > 0 ? 1 : 0)
            .with(beat.acknowledged())
            .with(beat.leaseMillis())
            .with(published == null ? "" : Long.toString(published.epoch()))
            .with(published == null ? 0 : published.limit())
            .with(digest == null ? "" : text(digest))
            .with(beat.permitMillis())
            .with(published != null && published.frequent() ? 1 : 0));
  }

  @Override
  public CompletionStage<Void> leave(Departure departure) {
    return run(call(DEPARTURE, departure.key(), _ -> true)
            .with(name(departure.node(), departure.incarnation()))
            .with(departure.inFlight()))
        .thenAccept(_ -> {});
  }

  @Override
  public CompletionStage<Void> released(ReleasedPermits released) {
    return run(call(RELEASED, released.key(), _ -> true)
            .with("%08x".formatted(released.process() ^ Integer.MIN_VALUE)) // as in names of nodes
            .with(released.permits()))
        .thenAccept(_ -> {});
  }

  private <T> ScriptCall<T> call(
      Script script, String limit, Function<ScriptCall.Reply, T> reader) {
    Place place = keys.of(limit);
    List<byte[]> rows = List.of(place.key("fleet", limit), place.key("digests", limit));
    return new ScriptCall<>(script, place, rows, leaseDeadline(), true, reader);
  }

  private static ShareGrant grant(ScriptCall.Reply reply) {
    return new ShareGrant(
        Status.valueOf(reply.text(0)),
        Math.toIntExact(reply.number(1)),
        Math.toIntExact(reply.number(2)),
        reply.number(3),
        Math.toIntExact(reply.number(4)),
        reply.number(5),
        decode(reply.bytes(6)),
        reply.number(7),
        reply.number(9) == 1,
        reply.number(8) == 1,
        remnants(reply),
        digests(reply));
  }

  /** Returns what is reserved for nodes that are no members, in their order. */
  private static List<Remnant> remnants(ScriptCall.Reply reply) {
    List<Remnant> remnants = new ArrayList<>();
    for (int i = REMNANTS + 1; i < digestsAt(reply); i += 2) {
      remnants.add(new Remnant(node(reply.bytes(i)), Math.toIntExact(reply.number(i + 1))));
    }
    remnants.sort(Comparator.comparing(Remnant::node));
    return remnants;
  }

  private static int digestsAt(ScriptCall.Reply reply) {
    return REMNANTS + 1 + 2 * Math.toIntExact(reply.number(REMNANTS));
  }

  /**
   * Returns the samples in the order of their nodes, without those that can't be read: nothing is
   * reserved by them.
   */
  private static List<SampleDigest> digests(ScriptCall.Reply reply) {
    SortedMap<NodeKey, String> byNode = new TreeMap<>();
    for (int i = digestsAt(reply); i < reply.size(); i += 2) {
      byte[] name = reply.bytes(i);
      if (name.length >= INCARNATION_LENGTH) {
        try {
          byNode.put(node(name), reply.text(i + 1));
        } catch (NumberFormatException _) {
          // not of a node
        }
      }
    }
    List<SampleDigest> digests = new ArrayList<>();
    for (String text : byNode.values()) {
      for (String each : text.split(";", 0)) {
        SampleDigest digest = digest(each);
        if (digest != null) {
          digests.add(digest);
        }
      }
    }
    return digests;
  }

  /** Returns the name of a node, which has the order of ids and incarnations in its bytes. */
  private static byte[] name(String node, long incarnation) {
    // Unsigned numbers with the sign bit flipped have the order of signed ones.
    String last = "%016x".formatted(incarnation ^ Long.MIN_VALUE);
    ByteArrayOutputStream name = new ByteArrayOutputStream(node.length() + INCARNATION_LENGTH);
    (node + ':' + last).chars().forEach(c -> encode(c, name));
    return name.toByteArray();
  }

  private static NodeKey node(byte[] name) {
    int end = name.length - INCARNATION_LENGTH;
    String last = new String(name, end + 1, name.length - end - 1, StandardCharsets.US_ASCII);
    long incarnation = Long.parseUnsignedLong(last, HEXADECIMAL) ^ Long.MIN_VALUE;
    return new NodeKey(decode(Arrays.copyOf(name, end)), incarnation);
  }

  /**
   * Writes a character as in UTF-8. A surrogate is one like any other, paired or not: only so is
   * the order of bytes that of Java's strings.
   */
  private static void encode(int c, ByteArrayOutputStream bytes) {
    if (c < 0x80) {
      bytes.write(c);
      return;
    }
    if (c < 0x800) {
      bytes.write(0xC0 | (c >> 6));
    } else {
      bytes.write(0xE0 | (c >> 12));
      bytes.write(0x80 | ((c >> 6) & 0x3F));
    }
    bytes.write(0x80 | (c & 0x3F));
  }

  private static String decode(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    int i = 0;
    while (i < bytes.length) {
      int first = bytes[i++];
      if (first >= 0) {
        text.append((char) first);
      } else if ((first & 0x20) == 0) {
        text.append((char) (((first & 0x1F) << 6) | following(bytes, i++)));
      } else {
        int middle = following(bytes, i++) << 6;
        text.append((char) (((first & 0x0F) << 12) | middle | following(bytes, i++)));
      }
    }
    return text.toString();
  }

  /** Returns the bits of a byte that is not the first one; 0 if others wrote none. */
  private static int following(byte[] bytes, int at) {
    return at < bytes.length ? bytes[at] & 0x3F : 0;
  }

  /**
   * Returns {@code 9 1 0 12 1 -800 90 1000 400000 900000}: at most 28 numbers of at most 13 digits,
   * one of them with a sign.
   */
  private static String text(SampleDigest digest) {
    List<Long> numbers = new ArrayList<>();
    Collections.addAll(numbers, digest.answered(), digest.dropped(), digest.refused());
    Collections.addAll(numbers, (long) digest.inFlight(), digest.full() ? 1L : 0L);
    RequestStatistics statistics = digest.statistics();
    Collections.addAll(
        numbers, statistics.slopeNanos(), statistics.errorNanos(), statistics.dispersion());
    numbers.addAll(digest.latencies());
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(" "));
  }

  /** Returns a digest, or null if it can't be read. */
  private static @Nullable SampleDigest digest(String text) {
    String[] parts = text.split(" ", MAX_DIGEST_PARTS);
    if (parts.length < DIGEST_NUMBERS) {
      return null;
    }
    try {
      List<Long> numbers = Arrays.stream(parts).map(Long::valueOf).toList();
      return new SampleDigest(
          numbers.get(0),
          numbers.get(1),
          numbers.get(2),
          Math.toIntExact(numbers.get(3)),
          numbers.get(4) == 1,
          new RequestStatistics(numbers.get(5), numbers.get(6), numbers.get(7)),
          numbers.subList(DIGEST_NUMBERS, numbers.size()));
    } catch (IllegalArgumentException | ArithmeticException _) {
      return null;
    }
  }
}
