package io.throttlekit.bench.sensor;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.bench.server.NoOpServer;
import io.throttlekit.service.concurrency.sensors.EntryReader;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SensorTest {

  @Test
  void entriesAreAnsweredRequestsBeyondTheServicesIdCache() throws InvalidProtocolBufferException {
    Set<String> ids = new HashSet<>();
    int entries = 0;
    for (byte[] message : Sensor.ACCESS_LOG.messages(3)) {
      var logs = StreamAccessLogsMessage.parseFrom(message).getHttpLogs();
      assertThat(logs.getLogEntryCount()).isEqualTo(Sensor.ACCESS_LOG.unitsOfAMessage());
      for (HTTPAccessLogEntry entry : logs.getLogEntryList()) {
        entries++;
        ids.add(entry.getCommonProperties().getStreamId());
        Reading reading = EntryReader.read(entry);
        assertThat(reading.kind()).isEqualTo(Kind.ANSWERED);
        assertThat(reading.cluster()).isEqualTo("upstream");
        assertThat(reading.marked()).isTrue();
        assertThat(reading.permits()).as("ends none, as with a limit at Envoys").isEmpty();
      }
    }
    assertThat(ids).hasSize(entries).hasSizeGreaterThan(1 << 15);
  }

  @Test
  void reportsIncludeTheSteeredCluster() throws InvalidProtocolBufferException {
    for (byte[] message : Sensor.LOAD_REPORT.messages(0)) {
      assertThat(LoadStatsRequest.parseFrom(message).getClusterStatsList())
          .hasSize(10)
          .anyMatch(stats -> stats.getClusterName().equals("upstream"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStreamSendsAtFullSpeedUntilItsTimeIsUp(Sensor sensor) throws Exception {
    AtomicLong looks = new AtomicLong();
    try (NoOpServer server = NoOpServer.start(0);
        Connections connections = new Connections(server.target(), 1)) {
      long sent =
          SensorStream.begin(
                  connections.channel(0),
                  sensor,
                  sensor.greeting(0),
                  List.copyOf(sensor.messages(0).subList(0, 7)),
                  3,
                  new Counted(looks),
                  200)
              .get(5, TimeUnit.MINUTES);
      assertThat(sent).isEqualTo(199);
    }
  }

  @Test
  void aBrokenStreamFails() throws IOException {
    NoOpServer server = NoOpServer.start(0);
    try (Connections connections = new Connections(server.target(), 1)) {
      var stream =
          SensorStream.begin(
              connections.channel(0),
              Sensor.LOAD_REPORT,
              Sensor.LOAD_REPORT.greeting(0),
              Sensor.LOAD_REPORT.messages(0),
              0,
              TimeSource.system(),
              Long.MAX_VALUE / 2 + TimeSource.system().monotonicNanos());
      server.close();
      assertThat(stream).failsWithin(Duration.ofMinutes(5));
    }
  }

  /** A clock that advances by a nanosecond at each reading. */
  private record Counted(AtomicLong looks) implements TimeSource {
    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      return looks.incrementAndGet();
    }
  }
}
