package io.throttlekit.demo.fair;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.PolicyFiles;
import io.throttlekit.fairness.WeightedMaxMin;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The demo's policy as the service reads it.
 *
 * @param limit requests per second of all tenants
 * @param weights by tenant, in the order of {@link FairPlan#TENANTS}, in thousandths
 */
record FairPolicy(long limit, List<Long> weights) {

  /** Copies the list. */
  FairPolicy {
    weights = List.copyOf(weights);
  }

  static FairPolicy read(Path file) throws IOException {
    var loaded =
        new PolicyLoader(new LoadOptions(false)).load(PolicyFiles.read(List.of(file)).whole());
    PolicyBook book = loaded.book();
    if (book == null) {
      throw new IOException(loaded.problems().toString());
    }
    Rule rule = book.rules().getFirst();
    FairShare share = Objects.requireNonNull(rule.fairShare());
    return new FairPolicy(
        rule.limits().getFirst().requestsPerUnit(),
        FairPlan.TENANTS.stream()
            .map(tenant -> share.weightOf(tenant.plan()).thousandths())
            .toList());
  }

  /** Returns what a tenant is guaranteed while all of them are active. */
  long part(int tenant) {
    long all = weights.stream().mapToLong(Long::longValue).sum();
    return WeightedMaxMin.guarantee(weights.get(tenant), all, limit);
  }
}
