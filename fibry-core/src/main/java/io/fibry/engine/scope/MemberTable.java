package io.fibry.engine.scope;

import io.fibry.engine.cell.Cell;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/** The members of a scope, by name and by age: cells and scopes. Any thread may call it. */
final class MemberTable {
  // marks of members
  static final int SCOPE = 1;
  static final int CLOSES_FIRST = 2; // ends before the others
  private static final int NAME_FREED = 4; // another may have its name
  private static final int MARK_BITS = 3;

  private static final int STRIPE_BITS = 3;
  private static final int STRIPES = 1 << STRIPE_BITS; // so that threads that make actors seldom meet

  private record NumberedMember(Object member, long number) {
    long age() {
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
    hash *= 0x9E3779B9; // of the golden ratio: numbered names fall far apart
    return hash ^ hash >>> 16;
  }

  /** Chooses by the highest bits of the hash; its lowest bits are the place in the stripe. */
  private MemberStripe stripe(int hash) {
    return stripes[hash >>> Integer.SIZE - STRIPE_BITS];
  }

  /** Returns false if another member has its name. */
  boolean add(Object member) {
    int hash = hash(member);
    return stripe(hash).add(member, hash, numbers.incrementAndGet() << MARK_BITS | marks(member));
  }

  void remove(Object member) {
    int hash = hash(member);
    stripe(hash).remove(member, hash);
  }

  /** Another may have its name now. */
  void freeName(Object member) {
    int hash = hash(member);
    stripe(hash).freeName(member, hash);
  }

  /** Returns null if no member has this name. */
  Cell named(String name) {
    int hash = spread(name.hashCode());
    return (Cell) stripe(hash).named(name, hash);
  }

  boolean isEmpty() {
    for (var stripe : stripes) if (!stripe.isEmpty()) return false;
    return true;
  }

  /** Oldest first. */
  List<Object> all() {
    return since(0, any -> true);
  }

  /** Returns the members that have this mark. */
  List<Object> marked(int mark) {
    return since(0, number -> (number & mark) != 0);
  }

  /** This one and those made after it; none, if it is not here. */
  List<Object> membersFrom(Object oldest) {
    int hash = hash(oldest);
    return since(stripe(hash).number(oldest, hash), any -> true);
  }

  List<Object> inAnyOrder() {
    return members(entries(0, any -> true));
  }

  private List<Object> since(long first, LongPredicate fits) {
    var found = entries(first, fits);
    var ages = found.stream().mapToLong(NumberedMember::age).summaryStatistics();
    if (ages.getMax() - ages.getMin() >= 4L * found.size()) { // most have gone
      found.sort(Comparator.comparingLong(NumberedMember::age));
      return members(found);
    }
    var places = new Object[(int) (ages.getMax() - ages.getMin() + 1)]; // sorting a million takes longer than closing
    for (var entry : found) places[(int) (entry.age() - ages.getMin())] = entry.member;
    return Arrays.stream(places).filter(Objects::nonNull).toList();
  }

  private List<NumberedMember> entries(long first, LongPredicate fits) {
    var found = new ArrayList<NumberedMember>();
    for (var stripe : stripes) stripe.collect(found, first, fits);
    return found;
  }

  private static List<Object> members(List<NumberedMember> entries) {
    return entries.stream().map(NumberedMember::member).toList();
  }

  /**
   * A hash table of three arrays, at most three quarters full. A member whose place is taken goes
   * to the next free place. A map with an object for each entry weighs four times as much. Guarded
   * by itself. While an entry is in motion nothing is called and nothing made, or the end of a
   * stack or of memory could leave it twice.
   */
  private static final class MemberStripe {
    private static final int MIN_SIZE = 4;
    private static final Object[] NONE = {null};

    private Object[] members = NONE; // null: free
    private int[] hashes = {0};
    private long[] numbers = {0}; // with marks
    private int count;

    synchronized boolean isEmpty() {
      return count == 0;
    }

    synchronized boolean add(Object member, int hash, long number) {
      var name = name(member);
      if (name != null && named(name, hash) != null) return false;
      if (4 * (count + 1) > 3 * members.length) resize(Math.max(MIN_SIZE, 2 * members.length));
      put(members, hashes, numbers, member, hash, number);
      count++;
      return true;
    }

    private static void put(Object[] members, int[] hashes, long[] numbers, Object member, int hash, long number) {
      int mask = members.length - 1;
      int at = hash & mask;
      while (members[at] != null) at = at + 1 & mask;
      hashes[at] = hash;
      numbers[at] = number;
      members[at] = member;
    }

    /** Where it is not here: of a free place. */
    private int find(Object member, int hash) {
      int mask = members.length - 1;
      int at = hash & mask;
      while (members[at] != null && members[at] != member) at = at + 1 & mask;
      return at;
    }

    synchronized Object named(String name, int hash) {
      int mask = members.length - 1;
      for (int at = hash & mask; members[at] != null; at = at + 1 & mask)
        if (hashes[at] == hash && (numbers[at] & NAME_FREED) == 0 && name.equals(name(members[at]))) return members[at];
      return null;
    }

    synchronized void freeName(Object member, int hash) {
      int at = find(member, hash);
      if (members[at] != null) numbers[at] |= NAME_FREED;
    }

    /** The greatest there is: it is not here. */
    synchronized long number(Object member, int hash) {
      int at = find(member, hash);
      return members[at] == null ? Long.MAX_VALUE : numbers[at] & ~NAME_FREED;
    }

    /**
     * The gap is then filled by the next member that would be there but for the removed one, and so
     * on.
     */
    synchronized void remove(Object member, int hash) {
      int gap = find(member, hash);
      if (members[gap] == null) return;
      int mask = members.length - 1;
      for (int at = gap + 1 & mask; members[at] != null; at = at + 1 & mask) {
        if ((at - hashes[at] & mask) < (at - gap & mask)) continue; // its own place is behind the gap
        members[gap] = members[at];
        hashes[gap] = hashes[at];
        numbers[gap] = numbers[at];
        gap = at;
      }
      members[gap] = null;
      count--;
      if (members.length > MIN_SIZE && 8 * count < members.length) shrink();
    }

    private void shrink() {
      try {
        resize(members.length / 2);
      } catch (OutOfMemoryError full) { // then later
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

    synchronized void collect(List<NumberedMember> found, long first, LongPredicate fits) {
      for (int i = 0; i < members.length; i++)
        if (members[i] != null && numbers[i] >= first && fits.test(numbers[i]))
          found.add(new NumberedMember(members[i], numbers[i]));
    }
  }
}
