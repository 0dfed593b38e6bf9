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
        "1 " + ID + " - 5000 -",
        "2 " + ID + " a",
        "2 " + ID + " t",
        "2 " + ID + " u",
        "2 " + ID + " 20000000"
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
        "1 " + ID + " - - 17",
        "2 " + ID + " x",
        "2 " + ID + " 0",
        "2 " + ID + " -5",
        "2 " + ID,
        "1 " + ID + " a",
        "3 " + ID + " a"
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
        "Zik0zj-mh2k9x1c-a-00ff00ff00ff00ff",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff-",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff-0abcdefghijk",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff-L",
        "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff-l-l"
      })
  void otherTextsAreNoIds(String text) {
    assertThat(PermitIds.addressIn(text)).isNull();
  }

  @Test
  void anIdNamesItsProcessItsLimitsAndItsLog() {
    String first = PermitIds.tag("one limit");
    String second = PermitIds.tag("another limit");
    assertThat(first).isNotEqualTo(second).isEqualTo(PermitIds.tag("one limit")).hasSize(13);
    PermitIds.Parts parts =
        Objects.requireNonNull(PermitIds.parts(ID + "-" + first + "-" + second + "-l"));
    assertThat(parts.address()).isEqualTo("zik0zj-mh2k9x1c");
    assertThat(parts.process()).isEqualTo(Integer.parseInt("zik0zj", 36));
    assertThat(parts.tags()).containsExactly(first, second);
    assertThat(Objects.requireNonNull(PermitIds.parts(ID)).tags()).isEmpty();
    assertThat(PermitIds.isLogged(ID + "-l")).isTrue();
    assertThat(PermitIds.isLogged(ID)).isFalse();
    assertThat(PermitIds.parts(ID + ("-" + first).repeat(PermitIds.MAX_TAGS + 1))).isNull();
    PermitIds ids = new PermitIds(5);
    assertThat(Objects.requireNonNull(PermitIds.parts(ids.next(List.of(), true))).process())
        .isEqualTo(ids.process());
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
