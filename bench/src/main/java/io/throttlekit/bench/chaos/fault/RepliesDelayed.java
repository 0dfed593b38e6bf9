package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.Link;
import io.throttlekit.testkit.net.TcpProxy;
import java.util.List;

/**
 * Delays every reply of a server.
 *
 * @param millis from 0 to 200
 */
public record RepliesDelayed(Link link, int millis) implements Fault {

  @Override
  public String kind() {
    return link.server() + " delayed";
  }

  @Override
  public int region() {
    return link.region();
  }

  @Override
  public Running begin(Stage stage) {
    List<TcpProxy> proxies = link.in(stage.fleet());
    proxies.forEach(proxy -> proxy.delayReplies(millis));
    return () -> proxies.forEach(proxy -> proxy.delayReplies(0));
  }
}
