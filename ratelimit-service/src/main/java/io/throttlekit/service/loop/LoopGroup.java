package io.throttlekit.service.loop;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.throttlekit.TimeSource;

/** Creates event loops whose threads are {@link LoopThread}s. */
public final class LoopGroup {
  private LoopGroup() {}

  /**
   * Returns event loops with daemon threads, which the caller has to shut down.
   *
   * @param count number of threads, from 1
   * @param name prefix of their names
   * @param transport how they poll
   * @param time clock for the ages of requests
   */
  public static EventLoopGroup of(
      int count, String name, IoHandlerFactory transport, TimeSource time) {
    return new MultiThreadIoEventLoopGroup(
        count, new Threads(name), TimedPolls.of(transport, time));
  }

  private static final class Threads extends DefaultThreadFactory {
    Threads(String name) {
      super(name, true);
    }

    @Override
    protected Thread newThread(Runnable work, String name) {
      return new LoopThread(threadGroup, work, name);
    }
  }
}
