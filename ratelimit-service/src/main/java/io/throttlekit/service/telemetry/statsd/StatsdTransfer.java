package io.throttlekit.service.telemetry.statsd;

import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.config.StatsdConfig.Protocol;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Sends lines to a statsd server; an interrupt ends it. */
final class StatsdTransfer {
  /** Fits into an Ethernet frame. */
  private static final int MAX_DATAGRAM = 1_432;

  /** The longest line that is sent in a datagram of its own, which IP fragments. */
  private static final int MAX_LINE = 8_192;

  private static final int CONNECT_MILLIS = 1_500;

  private StatsdTransfer() {}

  static void send(StatsdConfig server, List<String> lines) throws IOException {
    if (server.protocol() == Protocol.TCP) {
      overTcp(server, lines);
    } else {
      overUdp(server, lines);
    }
  }

  /** Opens a connection for each transfer: one that the server has closed would lose it. */
  private static void overTcp(StatsdConfig server, List<String> lines) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(server.host(), server.port()), CONNECT_MILLIS);
      OutputStream out = socket.getOutputStream();
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      for (String line : lines) {
        text.writeBytes(bytes(line));
      }
      text.writeTo(out);
      socket.shutdownOutput();
    }
  }

  private static void overUdp(StatsdConfig server, List<String> lines) throws IOException {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(InetAddress.getByName(server.host()), server.port());
      ByteArrayOutputStream datagram = new ByteArrayOutputStream();
      for (String line : lines) {
        byte[] bytes = bytes(line);
        if (bytes.length > MAX_LINE) {
          continue;
        }
        if (datagram.size() > 0 && datagram.size() + bytes.length > MAX_DATAGRAM) {
          send(socket, datagram);
        }
        datagram.writeBytes(bytes);
      }
      if (datagram.size() > 0) {
        send(socket, datagram);
      }
    }
  }

  private static void send(DatagramSocket socket, ByteArrayOutputStream datagram)
      throws IOException {
    byte[] bytes = datagram.toByteArray();
    socket.send(new DatagramPacket(bytes, bytes.length));
    datagram.reset();
  }

  private static byte[] bytes(String line) {
    return (line + '\n').getBytes(StandardCharsets.UTF_8);
  }
}
