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
    ExitWait currentWait();

    /** A wait for the end of an actor; an object of its own each time. */
    interface ExitWait {
      Cell cell();
    }
  }

  private static final int RECENT = 8; // kinds of actors

  private final String name;
  final ScopeState parent; // null: this is the root
  private final Accounts accounts;
  private final MemberTable memberTable = new MemberTable(); // a cell stays until its thread has left it
  private final AtomicLong reported = new AtomicLong(); // handled messages; a meter must not go back
  final CloseHooks closeHooks = new CloseHooks();
  // Null -> the close -> null (root only).
  private final AtomicReference<PendingClose> pendingClose = new AtomicReference<>();
  private volatile List<Object> recent = List.of(); // newest first; a race may forget one
  private final AtomicInteger closers = new AtomicInteger(); // threads that failures have started
  private volatile boolean shut; // false -> true, by a close here or around; the root's stays false

  ScopeState(String name, ScopeState around) {
    this.name = checkedName(name);
    this.parent = around;
    this.accounts = new Accounts(around == null ? null : around.accounts);
  }

  /** The root does not share, because it would keep policies and strategies for ever. */
  @Override
  @SuppressWarnings("unchecked") // equal ones are of one type
  public final <T> T intern(T made) {
    if (parent == null) return made;
    for (var one : recent) if (one.equals(made)) return (T) one;
    recent = Stream.<Object>concat(Stream.of(made), recent.stream()).limit(RECENT).toList();
    return made;
  }

  abstract void close();

  /** For an actor that failed; from here on this scope is not quiet until it is closed. */
  final void closeOffThread() {
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

  abstract boolean isBlockScope();

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
    if (!memberTable.add(member)) return false;
    if (!shut) return true;
    forget(member);
    throw new IllegalStateException(
        "scope '" + name + "' is closed, so it takes nothing new; make it in a scope that is open");
  }

  /** Adds, then reads {@code shut}, as {@link #join} does. */
  public final CloseHook onClosing(Runnable code) {
    var hook = closeHooks.add(Objects.requireNonNull(code, "farewell"), name);
    if (shut) closeHooks.runAll();
    return hook;
  }

  final Cell findActor(String label) {
    return memberTable.named(label);
  }

  @Override
  protected final void freeName(Exitable actor, String label) {
    if (label != null) memberTable.freeName(actor);
  }

  @Override
  public final void forget(Exitable actor, String label) {
    if (isTracked(label)) forget(actor);
  }

  private void forget(Object member) {
    memberTable.remove(member);
    endIfEmpty();
  }

  /**
   * The last member ends a close: a thread that waits for its report may be in a member that the
   * closer has yet to reach. Until then the scope stays in the one around.
   */
  final void endIfEmpty() {
    var close = pendingClose.get();
    if (!shut || close == null || !memberTable.isEmpty()) return;
    close.finish();
    parent.forget(this);
  }

  /** Oldest first. */
  final List<Object> members() {
    return memberTable.all();
  }

  /** Likewise. */
  final List<ScopeState> innerScopes() {
    return memberTable.marked(MemberTable.SCOPE).stream().map(ScopeState.class::cast).toList();
  }

  /** Returns the actors that end before the others. */
  final List<Cell> closingFirst() {
    return memberTable.marked(MemberTable.CLOSES_FIRST).stream().map(Cell.class::cast).toList();
  }

  /** This member and those made after it; none, if it has gone. */
  final List<Object> membersFrom(Object oldest) {
    return memberTable.membersFrom(oldest);
  }

  /** With workers. */
  static List<Cell> cells(Object member) {
    if (member instanceof Cell cell) return cell.workersAndSelf();
    var all = new ArrayList<Cell>();
    for (var one : ((ScopeState) member).members()) all.addAll(cells(one));
    return all;
  }

  /** Whose handler or hook this thread is in, with workers; in any order. */
  final List<Cell> current() {
    if (Wait.WaitingHandler.current() == null) return List.of();
    var found = new ArrayList<Cell>();
    for (var member : memberTable.inAnyOrder())
      if (member instanceof ScopeState inner) found.addAll(inner.current());
      else for (var cell : ((Cell) member).workersAndSelf()) if (cell.isCurrent()) found.add(cell);
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
      var drain = cell.countedDrain();
      if (drain != null) {
        done += drain.handledUnsettled();
        if (drain.isHandling()) handling++;
      }
      waiting += cell.countQueued(Integer.MAX_VALUE);
      if (cell.isCutOff() && cell.workersAndSelf().size() == 1) running.add(cell.name()); // a pool's workers run
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
  final void refuseNewMembers() {
    shut = parent != null;
    stopWatching();
    closeHooks.runAll();
    for (var inner : innerScopes()) if (!inner.isBlockScope()) inner.refuseNewMembers();
  }

  /** Makes this the one close, unless there is one. Returns the one. */
  final PendingClose claim(PendingClose close) {
    var first = pendingClose.compareAndExchange(null, close);
    return first == null ? close : first;
  }

  /**
   * {@return the waits of all closes in, below and around this scope, to compare with a later look;
   * empty if at least one close is at work}
   */
  final Optional<List<PendingClose.ExitWait>> closeWaits() {
    var pauses = new ArrayList<PendingClose.ExitWait>();
    boolean atWork = false;
    for (var each = parent; each != null && !atWork; each = each.parent) atWork = !each.addCloseWait(pauses);
    return atWork || !addCloseWaits(pauses) ? Optional.empty() : Optional.of(pauses);
  }

  private boolean addCloseWaits(List<PendingClose.ExitWait> pauses) {
    if (!addCloseWait(pauses)) return false;
    for (var inner : innerScopes()) if (!inner.addCloseWaits(pauses)) return false;
    return true;
  }

  /** {@return whether its close, if there is one, is done or waits} */
  private boolean addCloseWait(List<PendingClose.ExitWait> pauses) {
    var close = pendingClose.get();
    if (close == null) return closers.get() == 0;
    if (close.isDone()) return true;
    var pause = close.currentWait();
    if (pause != null) pauses.add(pause);
    return pause != null;
  }

  final void reopen() {
    accounts.forgetLetters();
    pendingClose.set(null);
  }

  public final boolean isClosed() {
    return shut;
  }

  final boolean isClosing() {
    return shut || pendingClose.get() != null;
  }
}
