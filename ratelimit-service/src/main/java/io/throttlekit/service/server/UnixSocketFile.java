package io.throttlekit.service.server;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** The file of a Unix socket, which outlives the process that created it. */
record UnixSocketFile(Path path) {

  /**
   * Removes the file that an ended process has left.
   *
   * @throws ListenException when another process still listens there, or when it is not a socket
   */
  void removeStale() {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try {
      // A socket is neither a file nor a folder nor a link; anything else is not ours to delete.
      if (!Files.readAttributes(path, BasicFileAttributes.class).isOther()) {
        throw ListenException.at(path, "it is not a socket", null);
      }
      if (hasListener()) {
        throw ListenException.at(path, "another process does", null);
      }
      Files.delete(path);
    } catch (IOException e) {
      throw ListenException.at(path, e.getMessage(), e);
    }
  }

  private boolean hasListener() {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
      return channel.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }
}
