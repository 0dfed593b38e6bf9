package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransportTest {
  @ParameterizedTest
  @CsvSource({
    "1, 64, 1",
    "2, 64, 2",
    "64, 64, 16",
    "64, 256, 64",
    "8, 32, 8",
    "64, 1, 1", // at least one
    "64, 0, 64" // unknown
  })
  void thereIsOneEventLoopPerCoreAsFarAsNettysMemorySuffices(int cores, long mib, int loops) {
    assertThat(Transport.loops(cores, mib << 20)).isEqualTo(loops);
  }
}
