package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.Waiting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Clients of a process's HTTP port that request many pages and read none.
 *
 * @param clients connections, from 1
 */
public record SlowReaders(int process, int clients) implements Fault {
  private static final int PAGES = 100; // more than the socket buffers hold
  private static final byte[] REQUESTS =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
          .repeat(PAGES)
          .getBytes(StandardCharsets.US_ASCII);

  @Override
  public String kind() {
    return "slow readers";
  }

  @Override
  public int region() {
    return ChaosFleet.regionOf(process);
  }

  @Override
  public Running begin(Stage stage) {
    return begin(() -> stage.fleet().node(process).httpPort(), stage.problems(), Waiting.LONG);
  }

  /**
   * Connects to the process, or to its successor. It is a problem when no client can connect.
   *
   * @param port of the newest process
   */
  public Running begin(IntSupplier port, List<String> problems, Duration longest) {
    List<Socket> sockets = new ArrayList<>();
    if (!Waiting.until(() -> connectAny(port.getAsInt(), sockets), longest)) {
      problems.add("no slow reader could connect to process " + process);
    }
    return running(sockets);
  }

  private boolean connectAny(int port, List<Socket> sockets) {
    for (int client = 0; client < clients; client++) {
      try {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        sockets.add(socket);
        socket.getOutputStream().write(REQUESTS);
      } catch (IOException _) {
        // rejected, which a process may do, or it does not run
      }
    }
    return !sockets.isEmpty();
  }

  private static Running running(List<Socket> sockets) {
    int requested = sockets.size();
    return new Running() {
      @Override
      public void end() throws IOException {
        for (Socket socket : sockets) {
          socket.close();
        }
      }

      @Override
      public String extent() {
        return requested + " connected";
      }
    };
  }
}
