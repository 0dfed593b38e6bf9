package io.throttlekit.testkit.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.random.RandomGenerator;

/**
 * A TCP port of the loopback interface that stays free for one test until it is closed, also while
 * its server is down.
 *
 * <p>The ports are below those from which kernels choose for connections and for port 0 (32,768 on
 * Linux, 49,152 elsewhere), so no connection takes one. A UDP socket on the same number keeps it
 * from other tests, of other processes too; the kernel releases that with the process. The port
 * 10,000 higher, on which a node of a Redis Cluster listens besides, is reserved with it.
 */
public final class ReservedPort implements AutoCloseable {
  private static final int FIRST = 10_000;
  private static final int COUNT = 10_000;
  private static final int TO_CLUSTER_BUS = 10_000;

  private final int number;
  private final DatagramSocket reservation;

  private ReservedPort(int number, DatagramSocket reservation) {
    this.number = number;
    this.reservation = reservation;
  }

  /**
   * Reserves a port.
   *
   * @throws UncheckedIOException when none is free
   */
  public static ReservedPort take() {
    return take(RandomGenerator.getDefault());
  }

  /** Does the same, beginning with a random port. */
  static ReservedPort take(RandomGenerator random) {
    int begin = random.nextInt(COUNT);
    IOException taken = new IOException("no free port");
    for (int i = 0; i < COUNT; i++) {
      try {
        return reserve(FIRST + (begin + i) % COUNT);
      } catch (IOException e) {
        taken = e;
      }
    }
    throw new UncheckedIOException(taken);
  }

  private static ReservedPort reserve(int port) throws IOException {
    DatagramSocket reservation =
        new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    try {
      assertFree(port);
      assertFree(port + TO_CLUSTER_BUS);
      return new ReservedPort(port, reservation);
    } catch (IOException e) {
      reservation.close();
      throw e;
    }
  }

  private static void assertFree(int port) throws IOException {
    new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
  }

  /** Returns the port. */
  public int number() {
    return number;
  }

  /** Ends the reservation. */
  @Override
  public void close() {
    reservation.close();
  }
}
