package io.throttlekit.testkit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends a command to a Redis on the loopback interface, on a connection of its own. */
final class RedisCommand {
  private static final int TIMEOUT_MILLIS = 240_000;

  private RedisCommand() {}

  /**
   * Returns the answer as text: a list has a line for each of its parts, and no answer is empty.
   */
  static String send(int port, String... words) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      StringBuilder command = new StringBuilder("*" + words.length + "\r\n");
      for (String word : words) {
        int length = word.getBytes(StandardCharsets.UTF_8).length;
        command.append('$').append(length).append("\r\n").append(word).append("\r\n");
      }
      socket.getOutputStream().write(command.toString().getBytes(StandardCharsets.UTF_8));
      return read(socket.getInputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(InputStream in) throws IOException {
    String line = line(in);
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '$' -> {
        int length = Integer.parseInt(rest);
        String text = length < 0 ? "" : new String(in.readNBytes(length), StandardCharsets.UTF_8);
        in.skipNBytes(length < 0 ? 0 : 2);
        yield text;
      }
      case '*' -> {
        StringBuilder all = new StringBuilder();
        for (int i = Integer.parseInt(rest); i > 0; i--) {
          all.append(read(in)).append('\n');
        }
        yield all.toString();
      }
      case '-' -> throw new IOException(rest);
      default -> rest;
    };
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\r'; c = in.read()) {
      if (c < 0) {
        throw new IOException("closed after " + line);
      }
      line.append((char) c);
    }
    in.skipNBytes(1);
    return line.toString();
  }
}
