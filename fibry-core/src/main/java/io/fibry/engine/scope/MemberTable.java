package io.fibry.engine.scope;

import io.fibry.engine.cell.Cell;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/** The members of a scope, which are cells and inner scopes, by name and by age. Thread-safe. */
final class MemberTable {
  // marks of members: the lowest bits of a member's number
  static final int SCOPE = 1;
  static final int CLOSES_FIRST = 2; // the member ends before the others
  private static final int NAME_FREED = 4; // another member may take the name of this member
  private static final int MARK_BITS = 3;

  private static final int STRIPE_BITS = 3;
  private static final int STRIPES = 1 << STRIPE_BITS; // several, so that threads that make actors seldom contend

  private record NumberedMember(Object member, long number) {
    long joinOrder() {
      return number >> MARK_BITS;
    }
  }

  private final MemberStripe[] stripes = new MemberStripe[STRIPES];
  private final AtomicLong numbers = new AtomicLong();

  MemberTable() {
    for (int i = 0; i < STRIPES; i++) stripes[i] = new MemberStripe();
  }

  private static int marks(Object member) {
    return member instanceof Cell cell ? cell.settings().closesFirst() ? CLOSES_FIRST : 0 : SCOPE;
  }

  private static String name(Object member) {
    return member instanceof Cell cell ? cell.label() : null;
  }

  private static int hash(Object member) {
    var name = name(member);
    return spread(name == null ? System.identityHashCode(member) : name.hashCode());
  }

  private static int spread(int hash) {
    hash *= 0x9E3779B9; // 2^32 divided by the golden ratio: spreads the hashes of numbered names
    return hash ^ hash >>> 16;
  }

  /**
   * Chooses the stripe by the highest bits of the hash; the lowest bits choose the index in the
   * stripe.
   */
  private MemberStripe stripe(int hash) {
    return stripes[hash >>> Integer.SIZE - STRIPE_BITS];
  }

  /** Adds a member. Returns false if another member has its name. */
  boolean add(Object member) {
    int hash = hash(member);
    return stripe(hash).add(member, hash, numbers.incrementAndGet() << MARK_BITS | marks(member));
  }

  /** Removes a member. Returns false if it is not in the table. */
  boolean remove(Object member) {
    int hash = hash(member);
    return stripe(hash).remove(member, hash);
  }

  /** Frees the name for another member, although this member is still in the table. */
  void freeName(Object member) {
    int hash = hash(member);
    stripe(hash).freeName(member, hash);
  }

  /** Returns null if no member has this name. */
  Cell findByName(String name) {
    int hash = spread(name.hashCode());
    return (Cell) stripe(hash).findByName(name, hash);
  }

  int size() {
    int size = 0;
    for (var stripe : stripes) size += stripe.size();
    return size;
  }

  boolean isEmpty() {
    for (var stripe : stripes) if (!stripe.isEmpty()) return false;
    return true;
  }

  /** Returns all members, oldest first. */
  List<Object> allMembers() {
    return membersSince(0, number -> true);
  }

  /** Returns the members that have this mark, oldest first. */
  List<Object> membersWithMark(int mark) {
    return membersSince(0, number -> (number & mark) != 0);
  }

  /**
   * Returns this member and the members made after it, oldest first. Returns an empty list if
   * {@code oldest} is not a member.
   */
  List<Object> membersFrom(Object oldest) {
    int hash = hash(oldest);
    return membersSince(stripe(hash).number(oldest, hash), number -> true);
  }

  List<Object> membersInAnyOrder() {
    return members(entries(0, number -> true));
  }

  private List<Object> membersSince(long minNumber, LongPredicate filter) {
    var entries = entries(minNumber, filter);
    var joinOrders = entries.stream().mapToLong(NumberedMember::joinOrder).summaryStatistics();
    if (joinOrders.getMax() - joinOrders.getMin() >= 4L * entries.size()) { // an array by index would be mostly empty
      entries.sort(Comparator.comparingLong(NumberedMember::joinOrder));
      return members(entries);
    }
    // by index, without a sort, because to sort a million members takes longer than to close them
    var sortedMembers = new Object[(int) (joinOrders.getMax() - joinOrders.getMin() + 1)];
    for (var entry : entries) sortedMembers[(int) (entry.joinOrder() - joinOrders.getMin())] = entry.member;
    return Arrays.stream(sortedMembers).filter(Objects::nonNull).toList();
  }

  private List<NumberedMember> entries(long minNumber, LongPredicate filter) {
    var entries = new ArrayList<NumberedMember>();
    for (var stripe : stripes) stripe.collect(entries, minNumber, filter);
    return entries;
  }

  private static List<Object> members(List<NumberedMember> entries) {
    return entries.stream().map(NumberedMember::member).toList();
  }

  /**
   * A hash table of three arrays, at most three quarters full. A member whose index is occupied
   * goes to the next free index. A map with an object for each entry needs four times the memory.
   * Guarded by its own monitor. While an entry is moved, no method is called and no object made,
   * because a StackOverflowError or OutOfMemoryError could leave the entry in the table twice.
   */
  private static final class MemberStripe {
    private static final int MIN_SIZE = 4;
    private static final Object[] NONE = {null};

    private Object[] members = NONE; // null: the index is free
    private int[] hashes = {0};
    private long[] numbers = {0}; // each with the marks of its member
    private int count;

    synchronized int size() {
      return count;
    }

    synchronized boolean isEmpty() {
      return count == 0;
    }

    synchronized boolean add(Object member, int hash, long number) {
      var name = name(member);
      if (name != null && findByName(name, hash) != null) return false;
      if (4 * (count + 1) > 3 * members.length) resize(Math.max(MIN_SIZE, 2 * members.length));
      put(members, hashes, numbers, member, hash, number);
      count++;
      return true;
    }

    private static void put(Object[] members, int[] hashes, long[] numbers, Object member, int hash, long number) {
      int mask = members.length - 1;
      int index = hash & mask;
      while (members[index] != null) index = index + 1 & mask;
      hashes[index] = hash;
      numbers[index] = number;
      members[index] = member;
    }

    /** Returns the index of the member, or a free index if the member is not in the table. */
    private int find(Object member, int hash) {
      int mask = members.length - 1;
      int index = hash & mask;
      while (members[index] != null && members[index] != member) index = index + 1 & mask;
      return index;
    }

    synchronized Object findByName(String name, int hash) {
      int mask = members.length - 1;
      for (int index = hash & mask; members[index] != null; index = index + 1 & mask)
        if (hashes[index] == hash && (numbers[index] & NAME_FREED) == 0 && name.equals(name(members[index])))
          return members[index];
      return null;
    }

    synchronized void freeName(Object member, int hash) {
      int index = find(member, hash);
      if (members[index] != null) numbers[index] |= NAME_FREED;
    }

    /** Returns the number of the member, or Long.MAX_VALUE if the member is not in the table. */
    synchronized long number(Object member, int hash) {
      int index = find(member, hash);
      return members[index] == null ? Long.MAX_VALUE : numbers[index] & ~NAME_FREED;
    }

    /**
     * Removes a member, and moves the next member that the removed member had displaced into the
     * gap. This move leaves another gap, which is filled in the same manner. Returns false if the
     * member is not in the table.
     */
    synchronized boolean remove(Object member, int hash) {
      int gap = find(member, hash);
      if (members[gap] == null) return false;
      int mask = members.length - 1;
      for (int index = gap + 1 & mask; members[index] != null; index = index + 1 & mask) {
        // the hash chose an index behind the gap, so the member stays
        if ((index - hashes[index] & mask) < (index - gap & mask)) continue;
        members[gap] = members[index];
        hashes[gap] = hashes[index];
        numbers[gap] = numbers[index];
        gap = index;
      }
      members[gap] = null;
      count--;
      if (members.length > MIN_SIZE && 8 * count < members.length) shrink();
      return true;
    }

    private void shrink() {
      try {
        resize(members.length / 2);
      } catch (OutOfMemoryError error) { // a later removal tries again
      }
    }

    private void resize(int size) {
      var newMembers = new Object[size];
      var newHashes = new int[size];
      var newNumbers = new long[size];
      for (int i = 0; i < members.length; i++)
        if (members[i] != null) put(newMembers, newHashes, newNumbers, members[i], hashes[i], numbers[i]);
      members = newMembers;
      hashes = newHashes;
      numbers = newNumbers;
    }

    synchronized void collect(List<NumberedMember> entries, long minNumber, LongPredicate filter) {
      for (int i = 0; i < members.length; i++)
        if (members[i] != null && numbers[i] >= minNumber && filter.test(numbers[i]))
          entries.add(new NumberedMember(members[i], numbers[i]));
    }
  }
}
