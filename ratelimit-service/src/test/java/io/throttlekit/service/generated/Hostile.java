package io.throttlekit.service.generated;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Clients that send damaged messages over a few streams, and come again when one has ended. For one
 * thread.
 */
final class Hostile {
  private static final int STREAMS = 7;

  private final RandomGenerator random;
  private final Damage damage;
  private final List<Attack<?>> attacks;
  private final List<Client> clients = new ArrayList<>();
  private final Map<Attack<?>, Integer> parsed = new HashMap<>();
  private int sent;

  private record Client(Attack<?> attack, WireStream<? extends Message> stream) {
    static Client of(Attack<?> attack) {
      return new Client(attack, attack.open());
    }
  }

  /** Creates clients whose streams are each of a method that is drawn at random. */
  Hostile(long seed, List<? extends Attack<?>> attacks) {
    this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    this.damage = new Damage(random);
    this.attacks = List.copyOf(attacks);
    for (int stream = 0; stream < STREAMS; stream++) {
      clients.add(next());
    }
  }

  private Client next() {
    return Client.of(attacks.get(random.nextInt(attacks.size())));
  }

  /** Sends messages, and returns their answers. */
  List<Message> send(int count) {
    List<Message> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int place = random.nextInt(STREAMS);
      Client client = clients.get(place);
      if (!client.stream().takesMore()) {
        client.stream().cancel();
        client = next();
        clients.set(place, client);
      }
      byte[] whole = client.attack().messages().apply(random).toByteArray();
      if (client.stream().send(random.nextInt(3) == 0 ? whole : damage.to(whole))) {
        parsed.merge(client.attack(), 1, Integer::sum);
      }
      sent++;
      answers.addAll(client.stream().received());
    }
    return answers;
  }

  /** Ends all streams. */
  void leave() {
    clients.forEach(client -> client.stream().cancel());
  }

  /**
   * Messages that are all refused would prove little, and so would ones that are all read, or all
   * of one method.
   */
  void assertReachedAll() {
    int all = parsed.values().stream().mapToInt(Integer::intValue).sum();
    assertThat(all).isBetween(sent / 3, sent * 99 / 100);
    assertThat(attacks)
        .allSatisfy(attack ->
            assertThat(parsed.getOrDefault(attack, 0))
                .as("read by %s", attack.method().getFullMethodName())
                .isGreaterThan(all / attacks.size() / 2));
  }
}
