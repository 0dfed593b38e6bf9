package io.throttlekit.fairness;

import io.throttlekit.CounterKey;

/** The keys of tenants in tests. */
final class Keys {
  private Keys() {}

  static CounterKey tenant(Object name) {
    return CounterKey.of("test", "tenant", name.toString());
  }

  static CounterKey[] tenants(int count) {
    CounterKey[] keys = new CounterKey[count];
    for (int i = 0; i < count; i++) {
      keys[i] = tenant(i);
    }
    return keys;
  }
}
