package io.throttlekit.share;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.FleetState.NodeKey;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FleetState} as bytes: a format number, then the fields in their order. Whole numbers are
 * written in groups of 7 bits, the lowest first, as protobuf's {@code sint64}; texts as {@link
 * DataOutputStream#writeUTF} writes them, which keeps unpaired surrogates.
 */
final class FleetRecord {
  private static final int FORMAT = 1;

  /** The bits of a group, and the bit that another group follows. */
  private static final int GROUP_BITS = 7;

  private static final int MORE = 1 << GROUP_BITS;

  /** The most nodes that are read: those that have left count in addition to the members. */
  private static final int MAX_NODES = 16 * FleetState.MAX_NODES;

  private FleetRecord() {}

  /**
   * Returns the state of a record; {@link FleetState#EMPTY} without one.
   *
   * @throws IllegalArgumentException if the record is none of a fleet
   */
  static FleetState read(byte @Nullable [] record) {
    if (record == null) {
      return FleetState.EMPTY;
    }
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(record))) {
      int format = in.readUnsignedByte();
      if (format != FORMAT) {
        throw new IllegalArgumentException("format " + format + " of a fleet is not known");
      }
      FleetState state = readFleet(in);
      if (in.available() > 0) {
        throw new IllegalArgumentException("bytes follow the fleet");
      }
      return state;
    } catch (IOException | ArithmeticException damaged) {
      throw new IllegalArgumentException("the bytes are no fleet", damaged);
    }
  }

  /** Returns a state as a record. */
  static byte[] write(FleetState state) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(FORMAT);
      writeFleet(out, state);
    } catch (IOException e) { // an id is too long
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static FleetState readFleet(DataInputStream in) throws IOException {
    int limit = readInt(in);
    long epoch = readLong(in);
    NodeKey steering = in.readBoolean() ? readKey(in) : null;
    long steeringUntilMillis = readLong(in);
    boolean frequent = in.readBoolean();
    SortedMap<NodeKey, NodeState> nodes = new TreeMap<>();
    int count = readCount(in, MAX_NODES);
    for (int i = 0; i < count; i++) {
      nodes.put(readKey(in), readNode(in));
    }
    return new FleetState(nodes, limit, epoch, steering, steeringUntilMillis, frequent);
  }

  private static void writeFleet(DataOutputStream out, FleetState state) throws IOException {
    writeLong(out, state.limit());
    writeLong(out, state.epoch());
    NodeKey steering = state.steering();
    out.writeBoolean(steering != null);
    if (steering != null) {
      writeKey(out, steering);
    }
    writeLong(out, state.steeringUntilMillis());
    out.writeBoolean(state.frequent());
    writeLong(out, state.nodes().size());
    for (Map.Entry<NodeKey, NodeState> node : state.nodes().entrySet()) {
      writeKey(out, node.getKey());
      writeNode(out, node.getValue());
    }
  }

  private static NodeKey readKey(DataInputStream in) throws IOException {
    return new NodeKey(in.readUTF(), in.readLong());
  }

  private static void writeKey(DataOutputStream out, NodeKey key) throws IOException {
    out.writeUTF(key.node());
    out.writeLong(key.incarnation()); // random: groups of bits would be longer
  }

  private static NodeState readNode(DataInputStream in) throws IOException {
    int localLimit = readInt(in);
    boolean sampled = in.readBoolean();
    int inFlight = readInt(in);
    int peak = readInt(in);
    boolean waiting = in.readBoolean();
    int share = readInt(in);
    long generation = readLong(in);
    int mayApply = readInt(in);
    long sequence = readLong(in);
    long untilMillis = readLong(in);
    long permitMillis = readLong(in);
    boolean left = in.readBoolean();
    List<SampleDigest> digests = new ArrayList<>();
    int count = readCount(in, FleetState.MAX_DIGESTS);
    for (int i = 0; i < count; i++) {
      digests.add(readDigest(in));
    }
    return new NodeState(
        localLimit,
        sampled,
        inFlight,
        peak,
        waiting,
        share,
        generation,
        mayApply,
        sequence,
        untilMillis,
        permitMillis,
        left,
        List.copyOf(digests));
  }

  private static void writeNode(DataOutputStream out, NodeState node) throws IOException {
    writeLong(out, node.localLimit());
    out.writeBoolean(node.sampled());
    writeLong(out, node.inFlight());
    writeLong(out, node.peak());
    out.writeBoolean(node.waiting());
    writeLong(out, node.share());
    writeLong(out, node.generation());
    writeLong(out, node.mayApply());
    writeLong(out, node.sequence());
    writeLong(out, node.untilMillis());
    writeLong(out, node.permitMillis());
    out.writeBoolean(node.left());
    writeLong(out, node.digests().size());
    for (SampleDigest digest : node.digests()) {
      writeDigest(out, digest);
    }
  }

  private static SampleDigest readDigest(DataInputStream in) throws IOException {
    long answered = readLong(in);
    long dropped = readLong(in);
    long refused = readLong(in);
    int inFlight = readInt(in);
    boolean full = in.readBoolean();
    RequestStatistics statistics = new RequestStatistics(readLong(in), readLong(in), readLong(in));
    List<Long> latencies = new ArrayList<>();
    int count = readCount(in, SampleDigest.MAX_LATENCIES);
    for (int i = 0; i < count; i++) {
      latencies.add(readLong(in));
    }
    return new SampleDigest(answered, dropped, refused, inFlight, full, statistics, latencies);
  }

  private static void writeDigest(DataOutputStream out, SampleDigest digest) throws IOException {
    writeLong(out, digest.answered());
    writeLong(out, digest.dropped());
    writeLong(out, digest.refused());
    writeLong(out, digest.inFlight());
    out.writeBoolean(digest.full());
    writeLong(out, digest.statistics().slopeNanos());
    writeLong(out, digest.statistics().errorNanos());
    writeLong(out, digest.statistics().dispersion());
    writeLong(out, digest.latencies().size());
    for (long latency : digest.latencies()) {
      writeLong(out, latency);
    }
  }

  private static int readInt(DataInputStream in) throws IOException {
    return Math.toIntExact(readLong(in));
  }

  private static int readCount(DataInputStream in, int most) throws IOException {
    int count = readInt(in);
    if (count < 0 || count > most) {
      throw new IOException("a count of " + count + " is not from 0 to " + most);
    }
    return count;
  }

  private static long readLong(DataInputStream in) throws IOException {
    long bits = 0;
    for (int shift = 0; shift < Long.SIZE; shift += GROUP_BITS) {
      int group = in.readUnsignedByte();
      bits |= (long) (group & (MORE - 1)) << shift;
      if (group < MORE) {
        return (bits >>> 1) ^ -(bits & 1);
      }
    }
    throw new IOException("a number is too long");
  }

  private static void writeLong(DataOutputStream out, long number) throws IOException {
    long bits = (number << 1) ^ (number >> (Long.SIZE - 1)); // small ones have few bits
    while (bits < 0 || bits >= MORE) {
      out.writeByte((int) (bits & (MORE - 1)) | MORE);
      bits >>>= GROUP_BITS;
    }
    out.writeByte((int) bits);
  }
}
