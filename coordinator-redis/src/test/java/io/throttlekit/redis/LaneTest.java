package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ByteArrayOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LaneTest {
  private static final long LEASE_MILLIS = 10;

  private final EventLoop loop = new DefaultEventLoop();
  private final TimeSource time = TimeSource.system();

  @Test
  void everyCallFailsAtOnceWhenItsLoopHasEnded() throws Exception {
    Lane<CounterCall<?>> lane = new Lane<>(loop, shared(), FakeLink::new);
    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).get();
    for (int i = 0; i < 3; i++) {
      CounterCall<Boolean> call =
          CounterCall.reset(
              Slots.NONE, Long.MAX_VALUE, StoreCalls.key(StoreCalls.FIVE, "user" + i));
      lane.submit(call);
      assertThat(call.answer).as("call %d", i).isCompletedExceptionally();
    }
  }

  @Test
  void aSynchronouslyOpenedConnectionIsUsed() {
    List<FakeLink> links = new ArrayList<>();
    Lane<CounterCall<?>> lane =
        new Lane<>(
            loop,
            shared(),
            (onLoop, listener) -> {
              FakeLink link = new FakeLink(onLoop, listener);
              links.add(link);
              return link;
            });
    lane.open();
    assertThat(links.getFirst().used).as("to load the script").isTrue();
  }

  /** As when the connection was replaced before the lane was closed. */
  @Test
  void pendingCallsFailBeforeALaneEndsAlsoDuringADisconnect() {
    Lane<CounterCall<?>> lane = new Lane<>(loop, shared(), HangingLink::new);
    CounterCall<Boolean> call =
        CounterCall.reset(Slots.NONE, Long.MAX_VALUE, StoreCalls.key(StoreCalls.FIVE, "user"));
    lane.submit(call);
    CompletableFuture<Boolean> failedByTheEnd =
        CompletableFuture.supplyAsync(lane::close, loop)
            .thenCompose(ended -> ended.thenApply(_ -> call.answer.isCompletedExceptionally()));
    assertThat(StoreCalls.answer(failedByTheEnd)).isTrue();
  }

  /** Its reply is still awaited after the deadline, until the connection is renewed. */
  @Test
  void aSilentConnectionIsReplacedAfterItsLastCallTimedOut() throws Exception {
    CompletableFuture<Boolean> late = new CompletableFuture<>();
    long deadline = time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(LEASE_MILLIS);
    CounterCall<LeaseGrant> call = lease(deadline);
    Lane<CounterCall<?>> lane =
        new Lane<>(
            loop,
            shared(),
            (onLoop, listener) ->
                new HangingLink(onLoop, listener) {
                  @Override
                  void renew() {
                    late.complete(call.answer.isCompletedExceptionally());
                  }
                });
    lane.open();
    lane.submit(call);
    assertThat(late.get(240, TimeUnit.SECONDS)).as("the call failed before").isTrue();
    assertThat(call.reply).isNotDone();
  }

  @Test
  void aTooShortReplyFailsCallsAndEndsTheLane() {
    assertFailedByReply(ByteBuffer.allocate(1), "BufferUnderflowException");
  }

  @Test
  void aNilReplyFailsTheCall() {
    assertFailedByReply(null, "nil");
  }

  private void assertFailedByReply(@Nullable ByteBuffer reply, String message) {
    RecordingListener listener = new RecordingListener();
    Lane<CounterCall<?>> lane =
        new Lane<>(
            loop,
            shared(Wanted.redis("redis://127.0.0.1").deadlines(1_000, 3_600_000), listener),
            (onLoop, events) -> new CommandsLink(onLoop, events, answered(reply)));
    lane.open();
    CounterCall<LeaseGrant> call = lease(Long.MAX_VALUE / 4);
    lane.submit(call);
    assertThat(StoreCalls.failure(call.answer)).hasMessageContaining(message);
    CompletableFuture<Boolean> ended =
        CompletableFuture.supplyAsync(lane::close, loop)
            .thenCompose(stage -> stage.thenApply(_ -> true));
    assertThat(StoreCalls.answer(ended)).as("long before the lease deadline").isTrue();
    assertThat(call.reply).isCompletedExceptionally();
    assertThat(listener.failures).containsExactly(Failure.ERROR);
    assertThat(listener.reasons).allMatch(reason -> reason.contains(message));
  }

  /** Its breaker is open, so it would reject the next call. */
  @Test
  void theBreakerOfARemovedNodeIsDropped() {
    CompletableFuture<Boolean> allowedBefore = new CompletableFuture<>();
    Lane.Shared<CounterCall<?>> shared =
        shared(Wanted.cluster("redis://127.0.0.1").breaker(1, 60_000, 60_000), StoreListener.NONE);
    Lane<CounterCall<?>> lane =
        new Lane<>(
            loop,
            shared,
            (onLoop, listener) ->
                new FakeLink(onLoop, listener) {
                  @Override
                  boolean hasNode(String node) {
                    allowedBefore.complete(shared.health().allows(node));
                    return false;
                  }
                });
    lane.notConnected("there is none");
    assertThat(failureOfACall(lane)).hasMessageContaining("there is none");
    CompletableFuture<Boolean> sameAfterTheSweep =
        allowedBefore.thenApplyAsync(allowed -> allowed, loop);
    assertThat(StoreCalls.answer(sameAfterTheSweep)).isFalse();
    assertThat(failureOfACall(lane)).hasMessageContaining("there is none");
  }

  private Throwable failureOfACall(Lane<CounterCall<?>> lane) {
    CounterCall<LeaseGrant> call = lease(time.monotonicNanos() + TimeUnit.MINUTES.toNanos(1));
    lane.submit(call);
    return StoreCalls.failure(call.answer);
  }

  private Lane.Shared<CounterCall<?>> shared() {
    return shared(
        Wanted.redis("redis://127.0.0.1").deadlines(1_000, LEASE_MILLIS), StoreListener.NONE);
  }

  private Lane.Shared<CounterCall<?>> shared(Wanted wanted, StoreListener listener) {
    RedisSettings settings = wanted.settings();
    Slots slots = new Slots(new KeyText(""), false);
    Epochs epochs = new Epochs(StoreListener.NONE);
    return new Lane.Shared<>(
        new CounterBatching(settings, slots, epochs, null),
        settings,
        time,
        new Handshake(
            slots.epochKey(Slots.NONE),
            epochs,
            new ScriptExecutor.Setup(settings, time, StoreListener.NONE, null, null)),
        new Health(settings, time, listener));
  }

  private static CounterCall<LeaseGrant> lease(long deadlineNanos) {
    return CounterCall.lease(
        Slots.NONE,
        deadlineNanos,
        new LeaseRequest(
            StoreCalls.key(StoreCalls.FIVE, "user"),
            StoreCalls.FIVE,
            1,
            DataLoss.REFILL,
            new CallId(8, 1)));
  }

  private static AsyncCommand<byte[], byte[], byte[]> unanswered() {
    return new AsyncCommand<>(
        new Command<>(CommandType.EVALSHA, new ByteArrayOutput<>(ByteArrayCodec.INSTANCE)));
  }

  /** Returns a command with this reply; with a nil one if it is absent. */
  private static AsyncCommand<byte[], byte[], byte[]> answered(@Nullable ByteBuffer reply) {
    AsyncCommand<byte[], byte[], byte[]> command = unanswered();
    if (reply != null) {
      command.getOutput().set(reply);
    }
    command.complete();
    return command;
  }

  /** A link whose connection never answers. */
  private static class HangingLink extends CommandsLink {
    HangingLink(EventLoop loop, Link.Listener listener) {
      super(loop, listener, unanswered());
    }
  }

  /** A link with the same result for each command. */
  private static class CommandsLink extends FakeLink {
    private final RedisClusterAsyncCommands<byte[], byte[]> commands;

    @SuppressWarnings("unchecked") // the class of a generic type
    CommandsLink(
        EventLoop loop, Link.Listener listener, AsyncCommand<byte[], byte[], byte[]> each) {
      super(loop, listener);
      Object proxy =
          Proxy.newProxyInstance(
              RedisClusterAsyncCommands.class.getClassLoader(),
              new Class<?>[] {RedisClusterAsyncCommands.class},
              (_, _, _) -> each);
      this.commands = (RedisClusterAsyncCommands<byte[], byte[]>) proxy;
    }

    @Override
    RedisClusterAsyncCommands<byte[], byte[]> commands() {
      return commands;
    }
  }

  /** A link that reports a connection when it is opened. */
  private static class FakeLink extends Link<StatefulConnection<byte[], byte[]>> {
    private boolean used;

    FakeLink(EventLoop loop, Link.Listener listener) {
      super(loop, listener);
      failureReason = "there is none";
    }

    @Override
    void connect() {}

    @Override
    void open() {
      listener.connected();
    }

    @Override
    @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands() {
      used = true;
      return null;
    }

    @Override
    String node(int slot) {
      return "";
    }

    @Override
    boolean hasNode(String node) {
      return true;
    }

    @Override
    void renew() {}

    @Override
    CompletionStage<?> close() {
      return CompletableFuture.completedFuture(null);
    }
  }
}
