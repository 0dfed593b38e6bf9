package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TenantTableTest {
  private final TenantTable table = new TenantTable();
  private final WeightGroup group = new WeightGroup(TenantWeight.listed(1), new TenantClass(1));

  @Test
  void findsWhatAMapFindsAfterRandomAdditionsAndRemovalsOfSeed5() {
    SplittableRandom random = new SplittableRandom(5);
    CounterKey[] keys = Keys.tenants(3_000);
    Map<CounterKey, Tenant> map = new HashMap<>();
    for (int i = 0; i < 60_000; i++) {
      CounterKey key = keys[random.nextInt(i % 20_000 < 12_000 ? keys.length : 40)];
      Tenant known = map.get(key);
      if (known == null) {
        Tenant tenant = new Tenant(key, group, 0);
        table.add(tenant);
        map.put(key, tenant);
      } else if (random.nextInt(3) > 0) {
        table.remove(known);
        map.remove(key);
      }
      assertThat(table.size()).isEqualTo(map.size());
      CounterKey other = keys[random.nextInt(keys.length)];
      assertThat(table.find(other)).isSameAs(map.get(other));
    }
    for (CounterKey key : keys) {
      assertThat(table.find(key)).isSameAs(map.get(key));
    }
    table.clear();
    assertThat(table.size()).isZero();
    assertThat(table.find(keys[0])).isNull();
  }
}
