package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreListener;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ScriptExecutorTest {

  @Test
  void aStoreEndsAfterTheEventLoopsOfItsServer() throws Exception {
    EventLoopGroup group =
        new DefaultEventLoopGroupProvider(2).allocate(Transports.eventLoopGroupClass());
    RedisCounterStore store =
        RedisCounterStore.connect(
            Wanted.redis("redis://127.0.0.1:1").settings(),
            TimeSource.system(),
            StoreListener.NONE,
            group);
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).get();
    store.close();
    CompletionStage<Boolean> ended = store.ended().thenApply(_ -> true);
    assertThat(StoreCalls.answer(ended)).isTrue();
  }
}
