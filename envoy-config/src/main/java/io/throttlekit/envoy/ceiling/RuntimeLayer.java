package io.throttlekit.envoy.ceiling;

import com.google.protobuf.Any;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;

/**
 * The runtime values of one Envoy, under construction. Whole numbers from 0 and nothing else: Envoy
 * acknowledges nonsense too, and falls back to the threshold of its bootstrap.
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
  void put(Ceiling ceiling, int share) {
    if (share < 0) {
      throw new IllegalArgumentException(ceiling + " has a share of " + share);
    }
    values.putFields(ceiling.runtimeKey(), Value.newBuilder().setNumberValue(share).build());
  }

  /** The resource; with an empty layer when there is no value, which takes back what there was. */
  Any resource() {
    Runtime runtime = Runtime.newBuilder().setName(resource).setLayer(values).build();
    return Any.newBuilder().setTypeUrl(TYPE_URL).setValue(runtime.toByteString()).build();
  }
}
