package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** TLC counts in the three published modules what others have counted. */
@Tag("tlc")
class LeasingSpecTest {
  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}")
  @CsvSource({"2, 4, 2, 31, 113, 10", "3, 6, 3, 441, 2458, 18", "5, 10, 2, 992, 9441, 22"})
  void carryOverKeepsItsBound(
      int nodes, int limit, int batch, long distinct, long generated, int depth)
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(sized("DistributedLeasing", nodes, limit, batch));
    assertThat(verdict).isEqualTo(new Verdict(distinct, generated, depth, null, verdict.output()));
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}")
  @CsvSource({"2, 4, 2, 8, 29, 5", "3, 6, 3, 27, 136, 7", "5, 10, 2, 112, 1041, 11"})
  void couplingToTheWindowKeepsTheLimit(
      int nodes, int limit, int batch, long distinct, long generated, int depth)
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(sized("GaleWindowCoupledLeasing", nodes, limit, batch));
    assertThat(verdict).isEqualTo(new Verdict(distinct, generated, depth, null, verdict.output()));
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}")
  @CsvSource({"2, 4, 2, 12", "3, 6, 3, 43", "5, 10, 2, 192"})
  void returningUnitsKeepsTheLimit(int nodes, int limit, int batch, long distinct)
      throws IOException, InterruptedException {
    Configuration returning =
        sized("GaleWindowCoupledLeasing", nodes, limit, batch).specification("ReturningSpec");
    Verdict verdict = tlc.check(returning);
    assertThat(verdict.violated()).isNull();
    assertThat(verdict.distinct()).isEqualTo(distinct);
  }

  @ParameterizedTest(name = "{0} regions, limit {1}, batch {2}")
  @CsvSource({
    "3, 6, 3, 27, 136, 7",
    "1, 8, 2, 9, 18, 9",
    "2, 8, 2, 16, 61, 9",
    "4, 8, 2, 48, 353, 9",
    "8, 8, 2, 303, 4057, 9",
  })
  void anyNumberOfRegionsKeepsTheLimit(
      int regions, int limit, int batch, long distinct, long generated, int depth)
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(federated(regions, limit, batch));
    assertThat(verdict).isEqualTo(new Verdict(distinct, generated, depth, null, verdict.output()));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @CsvSource({
    "DistributedLeasing, OvershootTight",
    "GaleWindowCoupledLeasing, NoOvershootTight",
  })
  void reachesItsBound(String module, String tight) throws IOException, InterruptedException {
    Configuration asked = Configuration.of(module).invariants(tight);
    assertThat(tlc.check(asked).violated()).isEqualTo(tight);
  }

  @ParameterizedTest(name = "{0} regions, limit {1}, batch {2}")
  @CsvSource({"3, 6, 3", "8, 8, 2"})
  void regionsReachTheLimit(int regions, int limit, int batch)
      throws IOException, InterruptedException {
    Configuration tight = federated(regions, limit, batch).invariants("NoOvershootTight");
    assertThat(tlc.check(tight).violated()).isEqualTo("NoOvershootTight");
  }

  @Test
  void carryOverExceedsTheLimitItself() throws IOException, InterruptedException {
    Configuration carrying = Configuration.of("GaleWindowCoupledLeasing").specification("Spec");
    assertThat(tlc.check(carrying).violated()).isEqualTo("NoOvershoot");
  }

  private static Configuration federated(int regions, int limit, int batch) {
    return Configuration.of("GaleFederatedLeasing")
        .with("Regions", Configuration.nodes(regions))
        .with("Limit", limit)
        .with("Batch", batch);
  }

  private static Configuration sized(String module, int nodes, int limit, int batch) {
    return Configuration.of(module)
        .with("Nodes", Configuration.nodes(nodes))
        .with("Limit", limit)
        .with("Batch", batch);
  }
}
