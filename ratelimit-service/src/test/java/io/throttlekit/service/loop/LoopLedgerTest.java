package io.throttlekit.service.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.netty.channel.embedded.EmbeddedChannel;
import io.throttlekit.TimeSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which connections are closed when 16 MiB are allowed; the test runs the timer. */
class LoopLedgerTest {
  private static final int MIB = 1 << 20;

  private final HeldByClients owner =
      new HeldByClients(1, 1_000, TimeSource.system(), new ClosedConnections(TimeSource.system()));
  private final EmbeddedChannel timer = new EmbeddedChannel();
  private final LoopLedger ledger = new LoopLedger(owner, timer.eventLoop());
  private final List<EmbeddedChannel> channels = new ArrayList<>();

  @AfterEach
  void close() {
    channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    timer.finishAndReleaseAll();
  }

  @Test
  void aConnectionWithinTheBoundStaysOpen() {
    EmbeddedChannel client = client(15 * MIB);
    look(5);
    assertThat(client.isOpen()).isTrue();
  }

  @Test
  void aClientBeyondTheBoundIsDisconnectedAtOnceAndASlowOneStays() {
    EmbeddedChannel slow = client(100);
    look(3);
    EmbeddedChannel hostile = client(17 * MIB);
    look(1);
    assertThat(hostile.isOpen()).isFalse();
    assertThat(slow.isOpen()).isTrue();
  }

  @Test
  void aSlowClientStaysConnectedWhileOthersHoldMore() {
    EmbeddedChannel slow = client(100);
    look(3);
    List<EmbeddedChannel> hostile = List.of(client(9 * MIB), client(9 * MIB));
    look(1);
    assertThat(hostile).as("it may have been read just now").allMatch(EmbeddedChannel::isOpen);
    look(1);
    assertThat(hostile).filteredOn(EmbeddedChannel::isOpen).hasSize(1);
    assertThat(slow.isOpen()).isTrue();
  }

  @Test
  void ofManyThatHoldLittleTheLongestHoldersAreDisconnected() {
    List<EmbeddedChannel> older = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      older.add(client(1));
    }
    look(3);
    List<EmbeddedChannel> younger = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      younger.add(client(1));
    }
    look(2);
    int room = 16 * MIB / (68 << 10);
    assertThat(older).filteredOn(EmbeddedChannel::isOpen).hasSize(room - 50);
    assertThat(younger).allMatch(EmbeddedChannel::isOpen);
  }

  @Test
  void aSlightlyLargerHolderDoesNotProtectLongerHolders() {
    List<EmbeddedChannel> older = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      older.add(client(1_800 << 10));
    }
    look(3);
    EmbeddedChannel younger = client(1_900 << 10);
    look(1);
    assertThat(older).filteredOn(EmbeddedChannel::isOpen).hasSize(8);
    assertThat(younger.isOpen()).isTrue();
  }

  @Test
  void manyLoopsDoNotCloseAPermittedConnectionAtItsFirstSample() {
    HeldByClients many =
        new HeldByClients(
            64, 1_000, TimeSource.system(), new ClosedConnections(TimeSource.system()));
    LoopLedger one = new LoopLedger(many, timer.eventLoop());
    EmbeddedChannel client = client(one, call(9 * MIB));
    one.look();
    assertThat(client.isOpen()).isTrue();
    one.look();
    assertThat(client.isOpen()).isFalse();
  }

  @Test
  void aDisconnectedClientNoLongerCountsAsBeingDecided() {
    HeldCall both = call(40 * MIB);
    both.requestIsComplete();
    EmbeddedChannel hostile = client(ledger, call(17 * MIB), both);
    EmbeddedChannel other = client(50 * MIB, true);
    look(1);
    assertThat(hostile.isOpen()).isFalse();
    assertThat(other.isOpen()).isTrue();
  }

  @Test
  void theClientWithMostMessagesBeingDecidedIsDisconnected() {
    EmbeddedChannel large = client(40 * MIB, true);
    EmbeddedChannel larger = client(50 * MIB, true);
    look(1);
    assertThat(large.isOpen()).isTrue();
    assertThat(larger.isOpen()).isFalse();
  }

  private EmbeddedChannel client(long bytes) {
    return client(bytes, false);
  }

  private EmbeddedChannel client(long bytes, boolean complete) {
    HeldCall call = call(bytes);
    if (complete) {
      call.requestIsComplete();
    }
    return client(ledger, call);
  }

  private EmbeddedChannel client(LoopLedger of, HeldCall... calls) {
    ClientConnection connection = new ClientConnection(owner);
    EmbeddedChannel channel = new EmbeddedChannel(connection);
    for (HeldCall call : calls) {
      connection.begun(call);
    }
    of.add(connection);
    channels.add(channel);
    return channel;
  }

  private static HeldCall call(long bytes) {
    HeldCall call = new HeldCall(null, new Metadata(), 0);
    call.inboundWireSize(bytes);
    return call;
  }

  private void look(int times) {
    for (int i = 0; i < times; i++) {
      ledger.look();
    }
  }
}
