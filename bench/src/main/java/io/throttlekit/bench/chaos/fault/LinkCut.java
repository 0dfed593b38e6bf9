package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.Link;
import io.throttlekit.testkit.net.TcpProxy;
import java.util.List;

/**
 * Cuts a region off from a server.
 *
 * @param refused whether connections are closed and new ones refused; else packets are dropped
 */
public record LinkCut(Link link, boolean refused) implements Fault {

  @Override
  public String kind() {
    return link.server() + " cut off";
  }

  @Override
  public int region() {
    return link.region();
  }

  @Override
  public Running begin(Stage stage) {
    List<TcpProxy> proxies = link.in(stage.fleet());
    proxies.forEach(refused ? TcpProxy::refuse : TcpProxy::hang);
    return () -> proxies.forEach(TcpProxy::goOn);
  }
}
