package io.fibry.engine.scope;

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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** A scope from inside: the actors and scopes that it owns, their names, and its door. */
abstract class Members extends Owner {
  /** The close of a scope. */
  interface Ending {
    /** Ends the close; only the first call does anything. */
    void finish();
  }

  private final String name;
  private final Members around; // null: this is the root
  private final Accounts accounts;
  private final ConcurrentHashMap<String, Exitable> named = new ConcurrentHashMap<>(); // alive
  // cells and scopes with their numbers; a cell leaves when its thread has, perhaps after its end
  private final ConcurrentHashMap<Object, Long> members = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicReference<Ending> ending = new AtomicReference<>(); // null -> the one close; of the root, back to null
  private volatile boolean shut; // false -> true, by a close of this scope or of one around it; never the root's

  Members(String name, Members around) {
    this.name = checkedName(name);
    this.around = around;
    this.accounts = new Accounts(around == null ? null : around.accounts);
  }

  public abstract void close();

  /** The door was shut: nothing is watched any more. */
  abstract void stopWatching();

  @Override
  public String name() {
    return name;
  }

  /** Null: this is the root. */
  final Members around() {
    return around;
  }

  @Override
  public final Accounts accounts() {
    return accounts;
  }

  // ---- who is in it

  @Override
  public final boolean tracks(String label) {
    return around != null || label != null;
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
   * Joins, then looks at the door; a close shuts the door, then looks at the members. So one of the
   * two sees the other.
   */
  final void join(Object member) {
    members.put(member, numbers.incrementAndGet());
    if (!shut) return;
    members.remove(member);
    endIfEmpty();
    throw new IllegalStateException(
        "scope '" + name + "' is closed, so it takes nothing new; make it in a scope that is open");
  }

  /** The living actor of this name. Null: none. */
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
   * The last member of a closing scope ends the close: a thread that waits for its report may be in a
   * member that the closer has yet to come to. Until then, while a handler ignores its end, the scope
   * is remembered.
   */
  final void endIfEmpty() {
    var close = ending.get();
    if (!shut || close == null || !members.isEmpty()) return;
    close.finish();
    around.forget(this);
  }

  /** Actors and scopes, oldest first. */
  final List<Object> members() {
    return membersSince(0);
  }

  /** The members from this one on; none, if it is not known. */
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

  /** The actors of a member: itself with its workers, or all below. */
  static List<Cell> cells(Object member) {
    if (member instanceof Cell cell) return cell.crew();
    var all = new ArrayList<Cell>();
    for (var one : ((Members) member).members()) all.addAll(cells(one));
    return all;
  }

  final Report report(List<DeadLetter> leftovers) {
    long waiting = 0;
    var running = new ArrayList<String>();
    for (var cell : cells(this)) {
      waiting += cell.waiting(Integer.MAX_VALUE);
      if (cell.isCutOff() && cell.crew().size() == 1) running.add(cell.name()); // of a pool, its workers run
    }
    var unhandled = new EnumMap<Reason, Long>(Reason.class);
    for (var reason : Reason.values()) unhandled.put(reason, accounts.unhandled(reason));
    long handled = accounts.handled();
    long sent = handled + waiting + unhandled.values().stream().mapToLong(Long::longValue).sum();
    return new Report(name, sent, handled, Collections.unmodifiableMap(unhandled), waiting, leftovers,
        List.copyOf(running));
  }

  // ---- the door

  /** Shuts the doors of this scope and of all below, before any member ends: so nothing new comes meanwhile. */
  final void shutDoors() {
    shut = around != null;
    stopWatching();
    for (var member : members()) if (member instanceof Members below) below.shutDoors();
  }

  /** After the door is shut: makes this the one close, unless there is one. Answers the one. */
  final Ending claim(Ending close) {
    var first = ending.compareAndExchange(null, close);
    return first == null ? close : first;
  }

  /** The root lives on. */
  final void reopen() {
    accounts.forgetLetters();
    ending.set(null);
  }

  final boolean isClosing() {
    return shut || ending.get() != null;
  }
}
