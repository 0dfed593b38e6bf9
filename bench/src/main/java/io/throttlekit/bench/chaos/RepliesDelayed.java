package io.throttlekit.bench.chaos;

import io.throttlekit.redis.TcpProxy;

/**
 * Every reply of a server comes later.
 *
 * @param millis from 0 to 200
 */
record RepliesDelayed(Link link, int millis) implements Fault {

  @Override
  public String kind() {
    return link.server() + " delayed";
  }

  @Override
  public Running begin(Stage stage) {
    TcpProxy proxy = link.in(stage.fleet());
    proxy.delayReplies(millis);
    return () -> proxy.delayReplies(0);
  }
}
