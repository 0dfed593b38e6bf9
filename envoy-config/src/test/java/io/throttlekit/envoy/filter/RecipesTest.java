package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the files of deploy/recipes. */
class RecipesTest {
  static final Path RECIPES =
      Path.of(Objects.requireNonNull(System.getProperty("throttlekit.root")), "deploy/recipes");
  private static final String POLICY = "deploy/recipes/policies/shop.yaml";

  @Test
  void theBootstrapIsWhatTheCommandPrints() throws IOException {
    String policy = Files.readString(RECIPES.resolve("policies/shop.yaml"));
    FilterActions shop = FilterActions.of(Policies.book(POLICY, policy), "shop", Map.of());
    assertThat(Files.readString(RECIPES.resolve("envoy/envoy.yaml")))
        .isEqualTo(new FilterText(List.of(shop)).bootstrap());
  }

  @Test
  void theTableListsEveryRecipe() throws IOException {
    String table = Files.readString(RECIPES.resolve("README.md"));
    try (Stream<Path> folders = Files.list(RECIPES).filter(Files::isDirectory)) {
      assertThat(folders.map(folder -> folder.getFileName().toString()))
          .isNotEmpty()
          .allSatisfy(name -> assertThat(table).contains("](" + name + "/"));
    }
  }
}
