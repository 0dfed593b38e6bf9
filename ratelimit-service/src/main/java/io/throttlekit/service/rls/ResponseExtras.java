package io.throttlekit.service.rls;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a response besides its statuses, for every protocol. Few responses have any.
 *
 * @param headers to be added to the response to the client, in this order
 * @param body of a refusal; empty for none
 * @param metadata the dynamic metadata: texts, numbers, booleans, lists and maps; empty for none
 */
public record ResponseExtras(
    List<Header> headers, String body, Map<String, @Nullable Object> metadata) {
  /** A response without extras. */
  static final ResponseExtras NONE = new ResponseExtras(List.of(), "", Map.of());

  /** A response header. */
  public record Header(String name, String value) {}
}
