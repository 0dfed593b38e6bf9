package io.throttlekit.fairness;

import org.jspecify.annotations.Nullable;

/**
 * The used amounts of the tenants of one weight, as a B+ tree of distinct amounts with their
 * multiplicity. Every entry of an inner node has count and sum of its subtree, so {@link #unused}
 * visits one node of each level.
 *
 * <p>Nodes that lose entries are not merged, only empty ones are removed: trees are cleared with
 * every window. Not thread-safe.
 */
final class UsedTree implements UsedAmounts {
  /*
   * In a leaf, an entry is a distinct amount: least[i], counts[i] times. In an inner node it is a
   * child: least[i] is a lower bound of its amounts, and above all amounts of child i − 1. Sums are
   * modulo 2^64; those that a result is computed from are below 2^63.
   */

  /**
   * Entries of a node. Larger nodes are slower to scan and faster to descend; 16 to 64 differ
   * little.
   */
  private static final int FANOUT = 32;

  private Node root = new Node(null);

  private static final class Node {
    final long[] least = new long[FANOUT];
    final int[] counts = new int[FANOUT];
    final long[] sums; // empty in a leaf
    final @Nullable Node @Nullable [] children; // null in a leaf
    int size;

    Node(@Nullable Node @Nullable [] children) {
      this.children = children;
      this.sums = new long[children == null ? 0 : FANOUT];
    }

    /** Returns the last entry that begins at or below {@code amount}; −1 if none does. */
    int floor(long amount) {
      int at = size - 1;
      while (at >= 0 && least[at] > amount) {
        at--;
      }
      return at;
    }

    void insert(int at, long from, int count, long sum, @Nullable Node child) {
      int after = size - at;
      System.arraycopy(least, at, least, at + 1, after);
      System.arraycopy(counts, at, counts, at + 1, after);
      least[at] = from;
      counts[at] = count;
      if (children != null) {
        System.arraycopy(sums, at, sums, at + 1, after);
        sums[at] = sum;
        System.arraycopy(children, at, children, at + 1, after);
        children[at] = child;
      }
      size++;
    }

    void remove(int at) {
      int after = --size - at;
      System.arraycopy(least, at + 1, least, at, after);
      System.arraycopy(counts, at + 1, counts, at, after);
      if (children != null) {
        System.arraycopy(sums, at + 1, sums, at, after);
        System.arraycopy(children, at + 1, children, at, after);
        children[size] = null;
      }
    }

    /** Moves the upper half into a new node. */
    Node split() {
      Node upper = new Node(children == null ? null : new Node[FANOUT]);
      for (int i = size / 2; i < size; i++) {
        if (children == null) {
          upper.insert(upper.size, least[i], counts[i], 0, null);
        } else {
          upper.insert(upper.size, least[i], counts[i], sums[i], children[i]);
        }
      }
      while (size > FANOUT - upper.size) {
        remove(size - 1);
      }
      return upper;
    }

    int count() {
      int total = 0;
      for (int i = 0; i < size; i++) {
        total += counts[i];
      }
      return total;
    }

    long sum() {
      long total = 0;
      for (int i = 0; i < size; i++) {
        total += children == null ? counts[i] * least[i] : sums[i];
      }
      return total;
    }
  }

  @Override
  public void reset(int count) {
    root = new Node(null);
    if (count > 0) {
      root.insert(0, 0, count, 0, null);
    }
  }

  @Override
  public void add(long amount) {
    change(amount, 1);
  }

  @Override
  public void remove(long amount) {
    change(amount, -1);
  }

  @Override
  public long unused(long guarantee) {
    long unused = 0;
    Node node = root;
    while (true) {
      // The last child that begins below the guarantee may have amounts above it.
      int last = node.floor(guarantee - 1);
      if (node.children == null) {
        for (int i = 0; i <= last; i++) {
          unused += node.counts[i] * (guarantee - node.least[i]);
        }
        return unused;
      }
      for (int i = 0; i < last; i++) {
        unused += node.counts[i] * guarantee - node.sums[i];
      }
      if (last < 0) {
        return unused;
      }
      node = child(node, last);
    }
  }

  /** Returns the number of levels, which is how many nodes an operation visits. */
  @Override
  public int depth() {
    int depth = 1;
    for (Node node = root; node.children != null; node = child(node, 0)) {
      depth++;
    }
    return depth;
  }

  private void change(long amount, int count) {
    Node right = change(root, amount, count);
    if (right != null) {
      Node left = root;
      root = new Node(new Node[FANOUT]);
      root.insert(0, left.least[0], left.count(), left.sum(), left);
      root.insert(1, right.least[0], right.count(), right.sum(), right);
    } else if (root.size == 0 && root.children != null) {
      root = new Node(null);
    }
  }

  /** Returns the upper half of the node if it had to be split. */
  private static @Nullable Node change(Node node, long amount, int count) {
    int at = node.floor(amount);
    if (node.children == null) {
      if (at < 0 || node.least[at] != amount) {
        node.insert(at + 1, amount, count, 0, null);
      } else if (node.counts[at] + count == 0) {
        node.remove(at);
      } else {
        node.counts[at] += count;
      }
    } else {
      changeChild(node, Math.max(0, at), amount, count);
    }
    return node.size == FANOUT ? node.split() : null;
  }

  private static void changeChild(Node node, int at, long amount, int count) {
    Node child = child(node, at);
    Node right = change(child, amount, count);
    node.least[at] = Math.min(node.least[at], amount);
    node.counts[at] += count;
    node.sums[at] += count * amount;
    if (right != null) {
      node.counts[at] -= right.count();
      node.sums[at] -= right.sum();
      node.insert(at + 1, right.least[0], right.count(), right.sum(), right);
    } else if (child.size == 0) {
      node.remove(at);
    }
  }

  @SuppressWarnings("NullAway") // entries below size have a child
  private static Node child(Node inner, int at) {
    return inner.children[at];
  }
}
