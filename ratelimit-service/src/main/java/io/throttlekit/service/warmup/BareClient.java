package io.throttlekit.service.warmup;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Just enough of HTTP/2 to have a gRPC server on this host answer requests, whatever it answers.
 *
 * <p>It stands in for grpc-java's client, which must not run in the process of the server: both
 * share their base classes, and what the compiler then learns of them from two kinds of use cost a
 * decision a seventh of its time (docs/adr/0004). For one thread.
 */
final class BareClient implements AutoCloseable {
  private static final int RST_STREAM = 3;
  private static final byte PING = 6;
  private static final int GOAWAY = 7;
  private static final byte ACK = 1;
  private static final int PING_BYTES = 8;

  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;
  private int lastStream = -1;

  private BareClient(Socket socket) throws IOException {
    this.socket = socket;
    this.out = socket.getOutputStream();
    this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 15));
  }

  /** Connects to a port of this host without TLS. */
  static BareClient connect(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    try {
      socket.setTcpNoDelay(true);
      BareClient client = new BareClient(socket);
      client.out.write(RequestFrames.greeting());
      return client;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sends requests, all at once, and waits until each is answered or refused.
   *
   * @param patience how long one read may wait
   * @throws IOException when they are not, because the server is slow or wants no more
   */
  void exchange(Iterable<RequestFrames> requests, Duration patience) throws IOException {
    socket.setSoTimeout(Math.toIntExact(Math.max(1, patience.toMillis())));
    int open = 0;
    int size = 0;
    boolean first = lastStream < 0;
    for (RequestFrames request : requests) {
      size += request.size(first && size == 0);
    }
    ByteBuffer batch = ByteBuffer.allocate(size);
    for (RequestFrames request : requests) {
      lastStream += 2;
      request.put(lastStream, first && open == 0, batch);
      open++;
    }
    out.write(batch.array());
    while (open > 0) {
      open -= streamsEnded();
    }
  }

  /** Reads one frame; how many streams it ends. */
  private int streamsEnded() throws IOException {
    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
    int type = in.readUnsignedByte();
    int flags = in.readUnsignedByte();
    in.readInt(); // which stream it is does not matter
    if (type == PING && (flags & ACK) == 0 && length == PING_BYTES) {
      long opaque = in.readLong();
      out.write(acknowledgement(PING, PING_BYTES).putLong(opaque).array());
      return 0;
    }
    in.skipNBytes(length);
    if (type == RequestFrames.SETTINGS && (flags & ACK) == 0) {
      out.write(acknowledgement(RequestFrames.SETTINGS, 0).array());
    } else if (type == GOAWAY) {
      throw new EOFException("the server wants no more requests");
    }
    boolean ended =
        type == RST_STREAM
            || (type == RequestFrames.HEADERS && (flags & RequestFrames.END_STREAM) != 0);
    return ended ? 1 : 0;
  }

  /** The head of an acknowledgement, with room for what is acknowledged. */
  private static ByteBuffer acknowledgement(byte type, int length) {
    ByteBuffer frame = ByteBuffer.allocate(RequestFrames.HEAD + length);
    RequestFrames.head(frame, length, type, ACK, 0);
    return frame;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
