package io.throttlekit.envoy.filter;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicySource;
import java.util.List;
import java.util.Objects;

/** Policies of tests. */
final class Policies {
  private Policies() {}

  /** Returns the book of a policy that must load. */
  static PolicyBook book(String file, String policy) {
    var result =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource(file, policy)));
    return Objects.requireNonNull(result.book(), () -> result.problems().toString());
  }

  /** Returns the book of the domain d with these descriptors, indented by two. */
  static PolicyBook ofDescriptors(String descriptors) {
    return book("d.yaml", "domain: d\ndescriptors:\n" + descriptors);
  }
}
