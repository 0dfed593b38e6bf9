package io.throttlekit.bench.server;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.bench.load.LoopbackTarget;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.testkit.net.EventLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * {@link NoOpService} and {@link NoOpSensors} on the gRPC stack of the real service: same
 * transport, same window, same number of event loops, no thread change.
 */
public final class NoOpServer implements AutoCloseable {
  private final EventLoopGroup acceptor = EventLoops.of(1);
  private final EventLoopGroup workers = EventLoops.of(Runtime.getRuntime().availableProcessors());
  private final Server server;

  private NoOpServer(int port) throws IOException {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .channelType(EventLoops.serverChannel())
            .bossEventLoopGroup(acceptor)
            .workerEventLoopGroup(workers)
            .directExecutor()
            .flowControlWindow(GrpcServer.UNREAD_BYTES)
            .addService(new NoOpService());
    NoOpSensors.services().forEach(builder::addService);
    server = builder.build().start();
  }

  /** Starts a server on a loopback port; 0 is any free one. */
  public static NoOpServer start(int port) throws IOException {
    return new NoOpServer(port);
  }

  /**
   * Serves until SIGTERM and prints the same first line as the real service.
   *
   * @param args the port, or nothing for any free one
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    NoOpServer server = start(args.length == 0 ? 0 : Integer.parseInt(args[0]));
    Runtime.getRuntime().addShutdownHook(new Thread(server::close));
    System.out.println("ready grpc=" + server.target());
    server.server.awaitTermination();
  }

  public LoopbackTarget target() {
    return new LoopbackTarget(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()));
  }

  @Override
  public void close() {
    server.shutdownNow();
    acceptor.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    workers.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
