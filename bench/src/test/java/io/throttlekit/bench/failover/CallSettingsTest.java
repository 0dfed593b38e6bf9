package io.throttlekit.bench.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.envoy.filter.ServiceCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallSettingsTest {
  /** The measured settings are the documented ones, and the ones that the command prints. */
  @Test
  void theRecommendedSettingsAreThoseOfTheDocumentsAndTheRecipe() throws IOException {
    for (String file : List.of("docs/REPLICAS.md", "deploy/recipes/envoy/envoy.yaml")) {
      String text = Files.readString(Path.of("..").resolve(file));
      for (String line : (CallSettings.RECOMMENDED + ServiceCluster.RETRY).split("\n", -1)) {
        String field =
            line.strip().replaceFirst("^(- |common_lb_config: )", "").replaceFirst(" #.*", "");
        if (!field.startsWith("explicit_http_config")) { // written in one line or two
          assertThat(text).as(file).contains(field);
        }
      }
      assertThat(text).as(file).contains(ServiceCluster.KEEP_ALIVE);
    }
  }

  @Test
  void theTablesOfTheDocumentHaveEveryRow() throws IOException {
    String text = Files.readString(Path.of("../docs/REPLICAS.md"));
    for (CallSettings row : CallSettings.ALL) {
      assertThat(text.split("\\| \\Q" + row.name() + "\\E \\| [0-9]", -1))
          .as(row.name())
          .hasSize(3);
    }
  }
}
