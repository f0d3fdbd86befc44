package io.fibry.engine.scope;

import io.fibry.ActorScope.Farewell;
import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.Exitable;
import io.fibry.engine.cell.Accounts;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Owner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** A scope from inside: its members, their names, and its door. */
abstract class Members extends Owner {
  interface Ending {
    /** Only the first call has an effect. */
    void finish();
  }

  private final String name;
  final Members around; // null: this is the root
  private final Accounts accounts;
  private final ConcurrentHashMap<String, Exitable> named = new ConcurrentHashMap<>(); // alive
  // cells and scopes with their numbers; a cell stays until its thread has left it
  private final ConcurrentHashMap<Object, Long> members = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong reported = new AtomicLong(); // handled messages; a meter must not go back
  final Farewells farewells = new Farewells();
  private final AtomicReference<Ending> ending = new AtomicReference<>(); // null -> the close -> null (root only)
  private volatile boolean shut; // false -> true, by a close here or around; the root's stays false

  Members(String name, Members around) {
    this.name = checkedName(name);
    this.around = around;
    this.accounts = new Accounts(around == null ? null : around.accounts);
  }

  abstract void close();

  abstract void stopWatching();

  abstract boolean isPart();

  @Override
  public String name() {
    return name;
  }

  @Override
  public final Accounts accounts() {
    return accounts;
  }

  @Override
  public final void admit(Exitable actor, String label) {
    if (label != null && named.putIfAbsent(label, actor) != null)
      throw new IllegalArgumentException("scope '" + name + "' has a living actor named '" + label
          + "'; choose another name, or wait until that one has ended");
    try {
      join(actor);
    } catch (IllegalStateException closed) {
      free(actor, label);
      throw closed;
    }
  }

  /**
   * Joins, then reads {@code shut}; a close sets {@code shut}, then reads the members. So one sees
   * the other.
   */
  final void join(Object member) {
    members.put(member, numbers.incrementAndGet());
    if (!shut) return;
    members.remove(member);
    endIfEmpty();
    throw new IllegalStateException(
        "scope '" + name + "' is closed, so it takes nothing new; make it in a scope that is open");
  }

  /** Adds, then reads {@code shut}, as {@link #join} does. */
  public final Farewell whenClosing(Runnable code) {
    var farewell = farewells.add(Objects.requireNonNull(code, "farewell"), name);
    if (shut) farewells.sayAll();
    return farewell;
  }

  final Cell living(String label) {
    return (Cell) named.get(label);
  }

  @Override
  protected final void free(Exitable actor, String label) {
    if (label != null) named.remove(label, actor);
  }

  @Override
  public final void forget(Exitable actor, String label) {
    if (tracks(label)) forget(actor);
  }

  private void forget(Object member) {
    members.remove(member);
    endIfEmpty();
  }

  /**
   * The last member ends a close: a thread that waits for its report may be in a member that the
   * closer has yet to reach. Until then the scope stays in the one around.
   */
  final void endIfEmpty() {
    var close = ending.get();
    if (!shut || close == null || !members.isEmpty()) return;
    close.finish();
    around.forget(this);
  }

  /** Oldest first. */
  final List<Object> members() {
    return membersSince(0);
  }

  /** None, if {@code oldest} is unknown. */
  final List<Object> membersFrom(Object oldest) {
    return membersSince(members.getOrDefault(oldest, Long.MAX_VALUE));
  }

  private List<Object> membersSince(long number) {
    var sorted = new ArrayList<Map.Entry<Object, Long>>();
    members.forEach((member, born) -> {
      if (born >= number) sorted.add(Map.entry(member, born));
    });
    sorted.sort(Comparator.comparingLong(Map.Entry::getValue));
    return sorted.stream().map(Map.Entry::getKey).toList();
  }

  /** With workers. */
  static List<Cell> cells(Object member) {
    if (member instanceof Cell cell) return cell.crew();
    var all = new ArrayList<Cell>();
    for (var one : ((Members) member).members()) all.addAll(cells(one));
    return all;
  }

  final Report report(List<DeadLetter> leftovers) {
    long waiting = 0;
    long steps = 0;
    var running = new ArrayList<String>();
    for (var cell : cells(this)) {
      waiting += cell.waiting(Integer.MAX_VALUE);
      steps += cell.stepsDone();
      if (cell.isCutOff() && cell.crew().size() == 1) running.add(cell.name()); // a pool's workers run
    }
    var unhandled = new EnumMap<Reason, Long>(Reason.class);
    for (var reason : Reason.values()) unhandled.put(reason, accounts.unhandled(reason));
    // a message of steps is for a moment neither at work nor in the accounts
    long handled = reported.accumulateAndGet(accounts.handled() + steps, Math::max);
    long sent = handled + waiting + unhandled.values().stream().mapToLong(Long::longValue).sum();
    return new Report(name, sent, handled, Collections.unmodifiableMap(unhandled), waiting, leftovers,
        List.copyOf(running));
  }

  /** Also below, before any member ends; but a part takes actors until its turn. */
  final void shutDoors() {
    shut = around != null;
    stopWatching();
    farewells.sayAll();
    for (var member : members()) if (member instanceof Members below && !below.isPart()) below.shutDoors();
  }

  /** Makes this the one close, unless there is one. Returns the one. */
  final Ending claim(Ending close) {
    var first = ending.compareAndExchange(null, close);
    return first == null ? close : first;
  }

  final void reopen() {
    accounts.forgetLetters();
    ending.set(null);
  }

  public final boolean isClosed() {
    return shut;
  }

  final boolean isClosing() {
    return shut || ending.get() != null;
  }
}
