package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadWhileWritableTest {

  /** A channel that answers each message with one. */
  private static EmbeddedChannel channel() {
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new ReadWhileWritable(),
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object message) {
                var _ = context.write(message);
              }

              @Override
              public void channelReadComplete(ChannelHandlerContext context) {
                context.flush();
              }
            });
    channel.freezeTime();
    return channel;
  }

  private static void receive(EmbeddedChannel channel, int messages) {
    for (int i = 0; i < messages; i++) {
      channel.writeInbound(Unpooled.EMPTY_BUFFER);
    }
  }

  @Test
  void readsWhileThereAreFewAnswers() {
    EmbeddedChannel channel = channel();
    for (int i = 0; i < 5; i++) {
      receive(channel, ReadWhileWritable.MAX_WRITES - 1);
      assertThat(channel.config().isAutoRead()).isTrue();
      channel.advanceTimeBy(ReadWhileWritable.PERIOD_MILLIS, TimeUnit.MILLISECONDS);
      channel.runScheduledPendingTasks();
    }
  }

  @Test
  void pausesUntilTheEndOfThePeriodWhenThereAreMany() {
    EmbeddedChannel channel = channel();
    receive(channel, ReadWhileWritable.MAX_WRITES);
    assertThat(channel.config().isAutoRead()).isFalse();
    channel.advanceTimeBy(ReadWhileWritable.PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.config().isAutoRead()).isTrue();
  }
}
