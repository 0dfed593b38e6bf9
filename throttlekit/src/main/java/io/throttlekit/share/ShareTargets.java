package io.throttlekit.share;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Computes what each node of a fleet is to get, without regard to what is reserved for others. */
final class ShareTargets {
  /** How long nodes keep their permit while there are fewer permits than nodes. */
  private static final long TURN_MILLIS = 5_000;

  private final int limit;
  private final List<NodeState> members;

  /**
   * @param members nodes that have not left, in their order
   */
  ShareTargets(int limit, List<NodeState> members) {
    this.limit = limit;
    this.members = members;
  }

  /** Returns the target of the member at an index, with equal shares. */
  long equal(int self) {
    return equalPart(limit, self, members.size());
  }

  /** Returns the target of the member at an index, by demand. */
  long byDemand(int self, long nowMillis) {
    if (limit < members.size()) {
      return turns(nowMillis).indexOf(self) < limit ? 1 : 0;
    }
    long used = 0;
    int hungry = 0;
    int rank = 0;
    for (int i = 0; i < members.size(); i++) {
      NodeState member = members.get(i);
      if (member.isSatisfied()) {
        used += member.peak() + 1L;
      } else {
        hungry++;
        rank += i < self ? 1 : 0;
      }
    }
    NodeState node = members.get(self);
    long unused = Math.max(0, limit - used);
    long wanted;
    if (!node.isSatisfied()) {
      wanted = Math.max(1, equalPart(unused, rank, hungry));
    } else {
      // Room for a burst, if no other node wants it.
      wanted = node.peak() + 1L + (hungry == 0 ? equalPart(unused, self, members.size()) : 0);
    }
    return Math.min(wanted, kept(self));
  }

  /**
   * Returns what a node may keep while the shares exceed the limit, each counted as at least one:
   * otherwise nodes that use less than their shares would keep them when the limit falls or a node
   * joins.
   */
  private long kept(int self) {
    long[] shares = members.stream().mapToLong(NodeState::share).toArray();
    long claimed = members.stream().mapToLong(member -> Math.max(1, member.share())).sum();
    return claimed > limit ? DemandSplit.of(limit, shares)[self] : limit;
  }

  /** Returns the members in the order in which they get one permit each: active ones first. */
  private List<Integer> turns(long nowMillis) {
    List<Integer> order = new ArrayList<>(indexes(true));
    if (!order.isEmpty()) {
      long passed = nowMillis / TURN_MILLIS * limit;
      Collections.rotate(order, -(int) (passed % order.size()));
    }
    order.addAll(indexes(false));
    return order;
  }

  private List<Integer> indexes(boolean active) {
    return IntStream.range(0, members.size())
        .filter(i -> members.get(i).isActive() == active)
        .boxed()
        .toList();
  }

  private static long equalPart(long permits, int rank, int nodes) {
    return permits / nodes + (rank < permits % nodes ? 1 : 0);
  }
}
