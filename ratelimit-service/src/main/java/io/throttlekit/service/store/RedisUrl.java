package io.throttlekit.service.store;

import io.throttlekit.service.config.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Cluster;
import io.throttlekit.service.config.StoreAddress.Memory;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.Sentinel;
import io.throttlekit.service.config.StoreAddress.Socket;
import io.throttlekit.service.config.StoreAddress.Standalone;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Formats an address and a login as a URL of the Redis client. Contains the password: never log it.
 */
final class RedisUrl {
  private RedisUrl() {}

  static String of(StoreAddress address, Login login) {
    String who = who(login);
    return switch (address) {
      case Memory _ -> throw new IllegalArgumentException("memory is no Redis");
      case Postgres _ -> throw new IllegalArgumentException("PostgreSQL is no Redis");
      case Standalone one -> scheme(one.tls()) + who + one.node() + '/' + one.database();
      case Socket socket ->
          "redis-socket://" + who + socket.path() + "?database=" + socket.database();
      case Sentinel guarded ->
          (guarded.tls() ? "rediss-sentinel://" : "redis-sentinel://")
              + who
              + nodes(guarded.sentinels(), "")
              + '/'
              + guarded.database()
              + '#'
              + encoded(guarded.master());
      case Cluster cluster -> nodes(cluster.seeds(), scheme(cluster.tls()) + who);
    };
  }

  private static String scheme(boolean tls) {
    return tls ? "rediss://" : "redis://";
  }

  private static String who(Login login) {
    if (!login.given()) {
      return "";
    }
    return (login.user().isEmpty() ? "" : encoded(login.user()) + ':')
        + encoded(login.password())
        + '@';
  }

  private static String nodes(List<Node> nodes, String before) {
    return nodes.stream().map(node -> before + node).collect(Collectors.joining(","));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
