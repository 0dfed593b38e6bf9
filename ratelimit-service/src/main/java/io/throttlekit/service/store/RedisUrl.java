package io.throttlekit.service.store;

import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Cluster;
import io.throttlekit.service.config.StoreAddress.Memory;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.Sentinel;
import io.throttlekit.service.config.StoreAddress.Socket;
import io.throttlekit.service.config.StoreAddress.Standalone;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Formats an address and a login as a URL of the Redis client. Contains the password: never log it.
 */
final class RedisUrl {
  private RedisUrl() {}

  static String of(StoreAddress address, Login login) {
    String credentials = credentials(login);
    return switch (address) {
      case Memory _, Postgres _ -> throw new IllegalArgumentException(address + " is no Redis");
      case Standalone one -> scheme(one.tls()) + credentials + one.node() + '/' + one.database();
      case Socket socket ->
          "redis-socket://"
              + credentials
              + StoreAddress.encodedPath(socket.path())
              + "?database="
              + socket.database();
      case Sentinel guarded ->
          (guarded.tls() ? "rediss-sentinel://" : "redis-sentinel://")
              + credentials
              + nodes(guarded.sentinels(), "")
              + '/'
              + guarded.database()
              + '#'
              + StoreAddress.encoded(guarded.master());
      case Cluster cluster -> nodes(cluster.seeds(), scheme(cluster.tls()) + credentials);
    };
  }

  private static String scheme(boolean tls) {
    return tls ? "rediss://" : "redis://";
  }

  private static String credentials(Login login) {
    if (!login.given()) {
      return "";
    }
    return (login.user().isEmpty() ? "" : StoreAddress.encoded(login.user()) + ':')
        + StoreAddress.encoded(login.password())
        + '@';
  }

  private static String nodes(List<Node> nodes, String before) {
    return nodes.stream().map(node -> before + node).collect(Collectors.joining(","));
  }
}
