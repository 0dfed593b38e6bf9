package io.throttlekit.bench.chaos;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Clients of the HTTP port of a process ask for many pages and read none.
 *
 * @param clients connections, from 1
 */
record SlowReaders(int process, int clients) implements Fault {
  private static final int PAGES = 100;
  private static final byte[] ASK =
      "GET /metrics HTTP/1.1\r\nHost: chaos\r\n\r\n"
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
  public Running begin(Stage stage) throws IOException {
    int port = stage.fleet().node(process).httpPort();
    List<Socket> sockets = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      try {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        sockets.add(socket);
        socket.getOutputStream().write(ASK);
      } catch (IOException _) {
        // turned away, which is the process's right, or it is not there
      }
    }
    int asked = sockets.size();
    return new Running() {
      @Override
      public void end() throws IOException {
        for (Socket socket : sockets) {
          socket.close();
        }
      }

      @Override
      public String extent() {
        return asked + " connected";
      }
    };
  }
}
