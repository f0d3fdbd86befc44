package io.fibry.engine.scope;

import io.fibry.ActorScope.CloseHook;
import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter.Reason;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.engine.cell.Accounts;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.OwningScope;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.message.Wait;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** A scope from inside: its members, their names, and its door. */
abstract class ScopeState extends OwningScope {
  interface PendingClose {
    /** Only the first call has an effect. */
    void finish();

    boolean isDone();

    /** {@return the wait that its thread is in, or null if the thread is at work} */
    ExitWait pause();

    /** A wait for the end of an actor; an object of its own each time. */
    interface ExitWait {
      Cell cell();
    }
  }

  private static final int RECENT = 8; // kinds of actors

  private final String name;
  final ScopeState around; // null: this is the root
  private final Accounts accounts;
  private final MemberTable roll = new MemberTable(); // a cell stays until its thread has left it
  private final AtomicLong reported = new AtomicLong(); // handled messages; a meter must not go back
  final CloseHooks farewells = new CloseHooks();
  private final AtomicReference<PendingClose> ending = new AtomicReference<>(); // null -> the close -> null (root only)
  private volatile List<Object> recent = List.of(); // newest first; a race may forget one
  private final AtomicInteger closers = new AtomicInteger(); // threads that failures have started
  private volatile boolean shut; // false -> true, by a close here or around; the root's stays false

  ScopeState(String name, ScopeState around) {
    this.name = checkedName(name);
    this.around = around;
    this.accounts = new Accounts(around == null ? null : around.accounts);
  }

  /** The root does not share, because it would keep policies and strategies for ever. */
  @Override
  @SuppressWarnings("unchecked") // equal ones are of one type
  public final <T> T shared(T made) {
    if (around == null) return made;
    for (var one : recent) if (one.equals(made)) return (T) one;
    recent = Stream.<Object>concat(Stream.of(made), recent.stream()).limit(RECENT).toList();
    return made;
  }

  abstract void close();

  /** For an actor that failed; from here on this scope is not quiet until it is closed. */
  final void closeElsewhere() {
    closers.incrementAndGet();
    try {
      GuaranteedStart.start(this::closeForFailure);
    } catch (Throwable notStarted) {
      closers.decrementAndGet();
      throw notStarted;
    }
  }

  private void closeForFailure() {
    try {
      close();
    } finally {
      closers.decrementAndGet();
    }
  }

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
    if (!join(actor)) throw new IllegalArgumentException("scope '" + name + "' has a living actor named '" + label
        + "'; choose another name, or wait until that one has ended");
  }

  /**
   * Joins, then reads {@code shut}; a close sets {@code shut}, then reads the members. So one sees
   * the other. Returns false if another member has its name.
   */
  final boolean join(Object member) {
    if (!roll.add(member)) return false;
    if (!shut) return true;
    forget(member);
    throw new IllegalStateException(
        "scope '" + name + "' is closed, so it takes nothing new; make it in a scope that is open");
  }

  /** Adds, then reads {@code shut}, as {@link #join} does. */
  public final CloseHook onClosing(Runnable code) {
    var farewell = farewells.add(Objects.requireNonNull(code, "farewell"), name);
    if (shut) farewells.sayAll();
    return farewell;
  }

  final Cell living(String label) {
    return roll.named(label);
  }

  @Override
  protected final void free(Exitable actor, String label) {
    if (label != null) roll.freeName(actor);
  }

  @Override
  public final void forget(Exitable actor, String label) {
    if (tracks(label)) forget(actor);
  }

  private void forget(Object member) {
    roll.remove(member);
    endIfEmpty();
  }

  /**
   * The last member ends a close: a thread that waits for its report may be in a member that the
   * closer has yet to reach. Until then the scope stays in the one around.
   */
  final void endIfEmpty() {
    var close = ending.get();
    if (!shut || close == null || !roll.isEmpty()) return;
    close.finish();
    around.forget(this);
  }

  /** Oldest first. */
  final List<Object> members() {
    return roll.all();
  }

  /** Likewise. */
  final List<ScopeState> below() {
    return roll.marked(MemberTable.SCOPE).stream().map(ScopeState.class::cast).toList();
  }

  /** Returns the actors that end before the others. */
  final List<Cell> doors() {
    return roll.marked(MemberTable.DOOR).stream().map(Cell.class::cast).toList();
  }

  /** This member and those made after it; none, if it has gone. */
  final List<Object> membersFrom(Object oldest) {
    return roll.from(oldest);
  }

  /** With workers. */
  static List<Cell> cells(Object member) {
    if (member instanceof Cell cell) return cell.crew();
    var all = new ArrayList<Cell>();
    for (var one : ((ScopeState) member).members()) all.addAll(cells(one));
    return all;
  }

  /** Whose handler or hook this thread is in, with workers; in any order. */
  final List<Cell> current() {
    if (Wait.WaitingHandler.current() == null) return List.of();
    var found = new ArrayList<Cell>();
    for (var member : roll.inAnyOrder())
      if (member instanceof ScopeState inner) found.addAll(inner.current());
      else for (var cell : ((Cell) member).crew()) if (cell.isCurrent()) found.add(cell);
    return found;
  }

  /**
   * Reads the counts against the direction in which messages move, so it counts no message twice,
   * except those that return from a handler or the stash at this moment.
   */
  final Report report(List<DeadLetter> leftovers) {
    long least = reported.get(); // first: what a later report has counted may be counted below as handled now
    var unhandled = new EnumMap<Reason, Long>(Reason.class);
    for (var reason : Reason.values()) unhandled.put(reason, accounts.unhandled(reason));
    long done = accounts.handled();
    long waiting = 0;
    var running = new ArrayList<String>();
    long handling = 0;
    for (var cell : cells(this)) {
      var drain = cell.counted();
      if (drain != null) {
        done += drain.handledSince();
        if (drain.isHandling()) handling++;
      }
      waiting += cell.waiting(Integer.MAX_VALUE);
      if (cell.isCutOff() && cell.crew().size() == 1) running.add(cell.name()); // a pool's workers run
    }
    // a message of steps is for a moment neither at work nor in the accounts
    long handled = Math.max(done, least);
    reported.accumulateAndGet(handled, Math::max);
    long sent = handled + handling + waiting + unhandled.values().stream().mapToLong(Long::longValue).sum();
    return new Report(name, sent, handled, handling, Collections.unmodifiableMap(unhandled), waiting, leftovers,
        List.copyOf(running));
  }

  /**
   * Shuts the doors of all members below, too, before any member ends; but an inner scope of a
   * block takes actors until its turn.
   */
  final void shutDoors() {
    shut = around != null;
    stopWatching();
    farewells.sayAll();
    for (var inner : below()) if (!inner.isPart()) inner.shutDoors();
  }

  /** Makes this the one close, unless there is one. Returns the one. */
  final PendingClose claim(PendingClose close) {
    var first = ending.compareAndExchange(null, close);
    return first == null ? close : first;
  }

  /**
   * {@return the waits of all closes in, below and around this scope, to compare with a later look;
   * empty if at least one close is at work}
   */
  final Optional<List<PendingClose.ExitWait>> pausesOfCloses() {
    var pauses = new ArrayList<PendingClose.ExitWait>();
    boolean atWork = false;
    for (var each = around; each != null && !atWork; each = each.around) atWork = !each.addPause(pauses);
    return atWork || !addPauses(pauses) ? Optional.empty() : Optional.of(pauses);
  }

  private boolean addPauses(List<PendingClose.ExitWait> pauses) {
    if (!addPause(pauses)) return false;
    for (var inner : below()) if (!inner.addPauses(pauses)) return false;
    return true;
  }

  /** {@return whether its close, if there is one, is done or waits} */
  private boolean addPause(List<PendingClose.ExitWait> pauses) {
    var close = ending.get();
    if (close == null) return closers.get() == 0;
    if (close.isDone()) return true;
    var pause = close.pause();
    if (pause != null) pauses.add(pause);
    return pause != null;
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
