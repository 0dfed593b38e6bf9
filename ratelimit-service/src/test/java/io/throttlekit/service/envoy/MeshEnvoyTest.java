package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.testkit.required.ExternalProgram;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MeshEnvoyTest {
  private static final String IMAGE = "envoyproxy/envoy:v1.40.0";

  private record Program(@Nullable String whyMissing) implements ExternalProgram {
    static final Program HERE = new Program(null);
    static final Program MISSING = new Program("no network");

    @Override
    public String name() {
      return "Envoy";
    }
  }

  @Test
  void isTheConfiguredImageIfDockerRuns() {
    for (Program program : new Program[] {Program.HERE, Program.MISSING}) {
      MeshEnvoy envoy = new MeshEnvoy(IMAGE, MeshEnvoyTest::runs, program);
      assertThat(envoy.image()).isEqualTo(IMAGE);
      assertThat(envoy.whyMissing()).isNull();
    }
  }

  @Test
  void isTheProgramIfDockerDoesNotRun() {
    MeshEnvoy envoy = new MeshEnvoy(IMAGE, MeshEnvoyTest::runsNot, Program.HERE);
    assertThat(envoy.image()).isNull();
    assertThat(envoy.whyMissing()).isNull();
  }

  @Test
  void isTheProgramIfNoImageIsConfigured() {
    BooleanSupplier unasked =
        () -> {
          throw new AssertionError("looked for Docker");
        };
    for (String none : new String[] {"", " "}) {
      MeshEnvoy envoy = new MeshEnvoy(none, unasked, Program.HERE);
      assertThat(envoy.image()).isNull();
      assertThat(envoy.whyMissing()).isNull();
    }
  }

  @Test
  void reportsWhatIsMissingIfNeitherIsAvailable() {
    assertThat(new MeshEnvoy("", MeshEnvoyTest::runs, Program.MISSING).whyMissing())
        .isEqualTo("no network");
    assertThat(new MeshEnvoy(IMAGE, MeshEnvoyTest::runsNot, Program.MISSING).whyMissing())
        .isEqualTo("no network; and Docker does not run, for the image " + IMAGE);
  }

  @Test
  void aWrongEnvoyBinIsAnErrorUnlessTheImageRuns() {
    ExternalProgram wrong =
        new ExternalProgram() {
          @Override
          public String name() {
            return "Envoy";
          }

          @Override
          public String whyMissing() {
            throw new IllegalStateException("ENVOY_BIN=x is wrong");
          }
        };
    assertThatThrownBy(() -> new MeshEnvoy("", MeshEnvoyTest::runs, wrong).whyMissing())
        .hasMessage("ENVOY_BIN=x is wrong");
    assertThat(new MeshEnvoy(IMAGE, MeshEnvoyTest::runs, wrong).whyMissing()).isNull();
  }

  private static boolean runs() {
    return true;
  }

  private static boolean runsNot() {
    return false;
  }
}
