package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ForwardedReleaseTest {
  private static final String ID = "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 " + ID + " - - -",
        "1 " + ID + " 0 - -",
        "1 " + ID + " 200 1 0",
        "1 " + ID + " 599 1000000000 16",
        "1 " + ID + " - 5000 -"
      })
  void aTextIsReadAsItWasWritten(String text) {
    ForwardedRelease release = Objects.requireNonNull(ForwardedRelease.of(text));
    assertThat(release.id()).isEqualTo(ID);
    assertThat(release.text()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "2 " + ID + " - - -",
        "1 " + ID + " - -",
        "1 " + ID + " - - - -",
        "1 " + ID + " 600 - -",
        "1 " + ID + " -1 - -",
        "1 " + ID + " x - -",
        "1 " + ID + " - 0 -",
        "1 " + ID + " - 1000000001 -",
        "1 " + ID + " - - 17"
      })
  void otherTextsAreNoReleases(String text) {
    assertThat(ForwardedRelease.of(text)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "a-b-c",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00f",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff0",
        "zik0zj-mh2k9x1c-a-00FF00ff00ff00ff",
        "zik0zj-mh2k9x1c-a-00fg00ff00ff00ff",
        "zik0zjx-mh2k9x1c-a-00ff00ff00ff00ff",
        "zik0zj-mh2k9x1cmh2k9x-a-00ff00ff00ff00ff",
        "zik0zj--mh2k9x1c-a-00ff00ff00ff00ff",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff\n",
        " zik0zj-mh2k9x1c-a-00ff00ff00ff00ff",
        "zik0zj|mh2k9x1c-a-00ff00ff00ff00ff",
        "Zik0zj-mh2k9x1c-a-00ff00ff00ff00ff"
      })
  void otherTextsAreNoIds(String text) {
    assertThat(PermitIds.addressIn(text)).isNull();
  }

  @Test
  void theAddressIsTheBeginningOfAnId() {
    assertThat(PermitIds.addressIn(ID)).isEqualTo("zik0zj-mh2k9x1c");
    for (long start : new long[] {0, 1_800_000_000_000L, Long.MAX_VALUE}) {
      PermitIds ids = new PermitIds(start);
      assertThat(
              IntStream.range(0, 100)
                  .mapToObj(_ -> PermitIds.addressIn(ids.next(List.of(), false))))
          .containsOnly(ids.address());
    }
    assertThat(new PermitIds(0).address()).isNotEqualTo(new PermitIds(0).address());
  }
}
