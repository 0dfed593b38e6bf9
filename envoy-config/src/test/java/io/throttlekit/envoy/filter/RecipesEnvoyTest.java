package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/** Tests that a real Envoy loads the parts of Envoy configuration in deploy/recipes. */
@RealEnvoy
class RecipesEnvoyTest {
  @TempDir Path folder;

  @Test
  void envoyAcceptsTheBootstrap() throws IOException {
    String bootstrap = Files.readString(RecipesTest.RECIPES.resolve("envoy/envoy.yaml"));
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), bootstrap, folder)).isEmpty();
  }

  /** What Istio puts into its Envoys, in a bootstrap with the cluster that it names. */
  @Test
  void envoyAcceptsWhatTheFilterOfIstioContains() throws IOException {
    Map<?, ?> filter =
        yaml(Files.readString(RecipesTest.RECIPES.resolve("istio/envoyfilter.yaml")));
    List<?> patches =
        (List<?>) Objects.requireNonNull(map(filter.get("spec")).get("configPatches"));
    Map<?, ?> inserted = map(map(map(patches.get(0)).get("patch")).get("value"));
    Map<?, ?> host = map(map(map(patches.get(1)).get("patch")).get("value"));
    String bootstrap =
        """
        static_resources:
          listeners:
            - name: http
              address: {socket_address: {address: 127.0.0.1, port_value: 0}}
              filter_chains:
                - filters:
                    - name: envoy.filters.network.http_connection_manager
                      typed_config:
                        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                        stat_prefix: http
                        route_config:
                          virtual_hosts:
                            - name: all
                              domains: ["*"]
                              routes: [{match: {prefix: /}, direct_response: {status: 200}}]
                              rate_limits: %s
                        http_filters:
                          - %s
                          - name: envoy.filters.http.router
                            typed_config:
                              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
          clusters:
            - {name: "outbound|8081||throttlekit.throttlekit.svc.cluster.local", type: STATIC}
        """
            .formatted(flow(host.get("rate_limits")), flow(inserted));
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), bootstrap, folder)).isEmpty();
  }

  private static Map<?, ?> yaml(String text) {
    return map(new Load(LoadSettings.builder().build()).loadFromString(text));
  }

  private static Map<?, ?> map(@Nullable Object node) {
    return (Map<?, ?>) Objects.requireNonNull(node);
  }

  private static String flow(@Nullable Object node) {
    DumpSettings settings =
        DumpSettings.builder().setDefaultFlowStyle(FlowStyle.FLOW).setWidth(10_000).build();
    return new Dump(settings).dumpToString(Objects.requireNonNull(node)).strip();
  }
}
