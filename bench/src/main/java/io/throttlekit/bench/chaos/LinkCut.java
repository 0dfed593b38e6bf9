package io.throttlekit.bench.chaos;

import io.throttlekit.redis.TcpProxy;

/**
 * A region does not reach a server.
 *
 * @param refused whether connections end and new ones are refused; else packets vanish
 */
record LinkCut(Link link, boolean refused) implements Fault {

  @Override
  public String kind() {
    return link.server() + " cut off";
  }

  @Override
  public Running begin(Stage stage) {
    TcpProxy proxy = link.in(stage.fleet());
    if (refused) {
      proxy.refuse();
    } else {
      proxy.hang();
    }
    return proxy::goOn;
  }
}
