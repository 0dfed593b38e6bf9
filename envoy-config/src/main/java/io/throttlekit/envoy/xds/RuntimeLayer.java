package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;

/**
 * Builder for the runtime values of one Envoy. Only whole numbers from 0 are allowed: Envoy
 * acknowledges other values too, and then applies the threshold of its bootstrap.
 */
final class RuntimeLayer {
  static final String TYPE_URL = "type.googleapis.com/envoy.service.runtime.v3.Runtime";

  private final String resource;
  private final Struct.Builder values = Struct.newBuilder();

  RuntimeLayer(String resource) {
    this.resource = resource;
  }

  /**
   * @throws IllegalArgumentException when the share is negative
   */
  void put(ClusterLimit limit, int share) {
    if (share < 0) {
      throw new IllegalArgumentException(limit + " has a share of " + share);
    }
    values.putFields(limit.runtimeKey(), Value.newBuilder().setNumberValue(share).build());
  }

  /**
   * Returns the resource. Its layer is empty when there is no value, which removes earlier ones.
   */
  Any resource() {
    Runtime runtime = Runtime.newBuilder().setName(resource).setLayer(values).build();
    return Any.newBuilder().setTypeUrl(TYPE_URL).setValue(runtime.toByteString()).build();
  }
}
