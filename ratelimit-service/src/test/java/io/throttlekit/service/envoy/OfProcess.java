package io.throttlekit.service.envoy;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;

/** Envoy as a process. */
record OfProcess(EnvoyProcess envoy) implements EnvoyUnderTest {

  @Override
  public int port() {
    return envoy.port();
  }

  @Override
  public String admin(String path) throws IOException {
    return envoy.admin(path);
  }

  @Override
  public void close() {
    envoy.close();
  }
}
