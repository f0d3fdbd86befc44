package io.fibry.engine.scope;

import io.fibry.ActorScope.CloseHook;
import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.Exitable;
import io.fibry.engine.cell.Accounts;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.OwningScope;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.message.Wait;
import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals;
import io.fibry.time.Scheduler;
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

/** The state of a scope: its members, their names, and whether it refuses new members. */
abstract class ScopeState extends OwningScope implements NamedTotals.MemberScope {
  interface PendingClose {
    /** Completes the close; only the first call has an effect. */
    void finish();

    boolean isDone();

    /** {@return the current wait of the closing thread, or null if that thread is at work} */
    ExitWait currentWait();

    /** A wait for the end of an actor; each wait is a new object. */
    interface ExitWait {
      Cell cell();
    }
  }

  private static final int MAX_RECENT = 8;

  private final String name;
  final ScopeState parent; // null: this is the root scope
  private final Accounts accounts;
  private final MemberTable memberTable = new MemberTable(); // a cell stays a member until no thread runs it
  // The greatest number of handled messages in a report so far. Later reports give at least this
  // number, because a meter must not decrease
  private final AtomicLong maxReported = new AtomicLong();
  final CloseHooks closeHooks = new CloseHooks();
  private final Object totalsLock; // the lock of the whole tree of scopes, for the totals of all its scopes
  private volatile List<NamedTotals> totals = List.of(); // written under the lock, read by actors that end
  // null until a close begins; the root scope sets it to null again after the close
  private final AtomicReference<PendingClose> pendingClose = new AtomicReference<>();
  // objects that were given to intern, newest first; a race may lose an object, which is harmless
  private volatile List<Object> recentObjects = List.of();
  // number of threads that close this scope because of a failure
  private final AtomicInteger closerCount = new AtomicInteger();
  private volatile boolean isShut; // false -> true by a close of this scope or an outer scope; stays false for the root

  ScopeState(String name, ScopeState parent) {
    this.name = checkedName(name);
    this.parent = parent;
    this.accounts = new Accounts(parent == null ? null : parent.accounts);
    this.totalsLock = parent == null ? new Object() : parent.totalsLock;
  }

  /**
   * Returns an equal object that was given recently, or else {@code candidate}. The root scope
   * remembers no objects, because it would keep policies and strategies in memory forever.
   */
  @Override
  @SuppressWarnings("unchecked") // equal objects have the same type
  public final <T> T intern(T candidate) {
    if (parent == null) return candidate;
    for (var object : recentObjects) if (object.equals(candidate)) return (T) object;
    recentObjects = Stream.<Object>concat(Stream.of(candidate), recentObjects.stream()).limit(MAX_RECENT).toList();
    return candidate;
  }

  abstract void close();

  /**
   * Closes the scope on another thread, because an actor failed. Until the scope is closed,
   * {@code awaitQuiescence} waits.
   */
  final void closeOffThread() {
    closerCount.incrementAndGet();
    try {
      GuaranteedStart.start(this::closeForFailure);
    } catch (Throwable failure) {
      closerCount.decrementAndGet();
      throw failure;
    }
  }

  private void closeForFailure() {
    try {
      close();
    } finally {
      closerCount.decrementAndGet();
    }
  }

  abstract void stopWatchdog();

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
        + "'; choose another name, or wait until that actor has ended");
  }

  /**
   * Adds a member, then reads {@code isShut}. A close sets {@code isShut}, then reads the members.
   * So at least one of the two threads sees the other. Returns false if another member has the
   * name.
   */
  final boolean join(Object member) {
    if (!memberTable.add(member)) return false;
    if (!isShut) return true;
    forget(member);
    throw new IllegalStateException(
        "scope '" + name + "' is closed, so it takes no new actors or scopes; use an open scope");
  }

  /**
   * Adds a hook, then reads {@code isShut}. A close sets {@code isShut}, then runs the hooks. So at
   * least one of the two threads runs the hook.
   */
  public final CloseHook onClosing(Runnable hook) {
    var addedHook = closeHooks.add(Objects.requireNonNull(hook, "hook"), name);
    if (isShut) closeHooks.runAll();
    return addedHook;
  }

  final Cell findActor(String label) {
    return memberTable.findByName(label);
  }

  @Override
  protected final void freeName(Exitable actor, String label) {
    if (label != null) memberTable.freeName(actor);
  }

  @Override
  public final void forget(Exitable actor, String label) {
    if (isMember(label)) forget(actor);
  }

  private void forget(Object member) {
    if (member instanceof Cell cell) forgetActor(cell);
    else memberTable.remove(member);
    endIfEmpty();
  }

  /**
   * Removes an actor. If totals count it, its removal and the addition of its counts are one step
   * for readers, which have the same lock. If the totals were made after the first check, the
   * counts are added right after the removal. A reader may miss the actor for that moment, but
   * never counts it twice.
   */
  private void forgetActor(Cell cell) {
    if (isInTotals(cell)) {
      // read without the lock, because a multi-step message of a user may be asked for its steps
      long handled = cell.handled();
      synchronized (totalsLock) {
        if (memberTable.remove(cell)) addToTotals(cell, handled);
      }
    } else if (memberTable.remove(cell) && isInTotals(cell)) {
      long handled = cell.handled();
      synchronized (totalsLock) {
        addToTotals(cell, handled);
      }
    }
  }

  private boolean isInTotals(Cell cell) {
    for (var outer = this; outer != null; outer = outer.parent) {
      var outerTotals = outer.totals;
      for (int i = 0; i < outerTotals.size(); i++) if (outerTotals.get(i).counts(cell.label())) return true;
    }
    return false;
  }

  private void addToTotals(Cell cell, long handled) {
    for (var outer = this; outer != null; outer = outer.parent) {
      var outerTotals = outer.totals;
      for (int i = 0; i < outerTotals.size(); i++)
        outerTotals.get(i).addEnded(cell, handled);
    }
  }

  public final ActorTotals totals(ActorNames names) {
    var added = new NamedTotals(this, names);
    synchronized (totalsLock) {
      totals = Stream.concat(totals.stream(), Stream.of(added)).toList();
    }
    added.begin();
    return added;
  }

  @Override
  public final void removeTotals(NamedTotals removed) {
    synchronized (totalsLock) {
      totals = totals.stream().filter(other -> other != removed).toList();
    }
  }

  @Override
  public final long nanoTime() {
    return options().scheduler().nanoTime();
  }

  @Override
  public final Scheduler scheduler() {
    return options().scheduler();
  }

  @Override
  public final Object totalsLock() {
    return totalsLock;
  }

  @Override
  public final void addActors(List<Cell> actors) {
    for (var member : memberTable.membersInAnyOrder())
      if (member instanceof ScopeState innerScope) innerScope.addActors(actors);
      else actors.add((Cell) member);
  }

  /**
   * Completes a pending close if no member is left. Called when a member is removed, too, because
   * the closing thread completes the closes of inner scopes only at the end of the outer close.
   * Until then, that thread may wait for a member of the outer scope whose handler waits for the
   * end of this inner scope's close, which returns its report. Until the close is complete, the
   * scope stays a member of its parent.
   */
  final void endIfEmpty() {
    var close = pendingClose.get();
    if (!isShut || close == null || !memberTable.isEmpty()) return;
    close.finish();
    parent.forget(this);
  }

  /** Returns the members, oldest first. */
  final List<Object> members() {
    return memberTable.allMembers();
  }

  /** Returns the number of actors and inner scopes in this scope. */
  final int countMembers() {
    return memberTable.size();
  }

  /** Returns the inner scopes, oldest first. */
  final List<ScopeState> innerScopes() {
    return memberTable.membersWithMark(MemberTable.SCOPE).stream().map(ScopeState.class::cast).toList();
  }

  /** Returns the actors that end before the others. */
  final List<Cell> actorsClosingFirst() {
    return memberTable.membersWithMark(MemberTable.CLOSES_FIRST).stream().map(Cell.class::cast).toList();
  }

  /**
   * Returns this member and the members made after it, or an empty list if it is no longer a
   * member.
   */
  final List<Object> membersFrom(Object oldest) {
    return memberTable.membersFrom(oldest);
  }

  /**
   * Returns the cells of a member of a scope. For an actor, returns the actor itself; for an inner
   * scope, all its actors, also of its inner scopes. A pool comes with its workers.
   */
  static List<Cell> cells(Object member) {
    if (member instanceof Cell cell) return cell.workersAndSelf();
    var cells = new ArrayList<Cell>();
    for (var innerMember : ((ScopeState) member).members()) cells.addAll(cells(innerMember));
    return cells;
  }

  /**
   * Returns the actors and workers whose handlers or hooks this thread is running, in any order.
   */
  final List<Cell> currentCells() {
    if (Wait.WaitingHandler.current() == null) return List.of();
    var cells = new ArrayList<Cell>();
    for (var member : memberTable.membersInAnyOrder())
      if (member instanceof ScopeState innerScope) cells.addAll(innerScope.currentCells());
      else for (var cell : ((Cell) member).workersAndSelf()) if (cell.isCurrent()) cells.add(cell);
    return cells;
  }

  /**
   * Makes a report. It counts unhandled and handled messages first, then messages in handlers, and
   * queued messages last. So a message that advances during the count is not counted twice. A
   * message that returns from a handler or the stash to the mailbox during the count may be counted
   * twice.
   */
  final Report report(List<DeadLetter> leftovers) {
    // read first: a concurrent report could otherwise raise the maximum by messages that this
    // report counts as queued or in a handler
    long minHandled = maxReported.get();
    var unhandled = new EnumMap<Reason, Long>(Reason.class);
    var deadLetterCounts = new EnumMap<Reason, Long>(Reason.class);
    for (var reason : Reason.values()) {
      deadLetterCounts.put(reason, accounts.deadLetters(reason)); // first, because they are a part of the others
      unhandled.put(reason, accounts.unhandled(reason));
    }
    long handledCount = accounts.handled();
    long queued = 0;
    var unresponsive = new ArrayList<String>();
    long handlingCount = 0;
    int suspended = 0;
    for (var cell : cells(this)) {
      if (cell.isSuspended()) suspended++;
      var drain = cell.countedDrain();
      if (drain != null) {
        handledCount += drain.handledUnsettled();
        if (drain.isHandling()) handlingCount++;
      }
      queued += cell.countQueued(Integer.MAX_VALUE);
      // a pool itself is left out, because only its workers run handlers
      if (cell.isCutOff() && cell.workersAndSelf().size() == 1) unresponsive.add(cell.name());
    }
    // at least the number of earlier reports: if a drain settles after the read of
    // accounts.handled(), its messages are neither in that count nor in handledUnsettled()
    long handled = Math.max(handledCount, minHandled);
    maxReported.accumulateAndGet(handled, Math::max);
    long sent = handled + handlingCount + queued + unhandled.values().stream().mapToLong(Long::longValue).sum();
    return new Report(name, sent, handled, handlingCount, Collections.unmodifiableMap(unhandled), queued,
        Collections.unmodifiableMap(deadLetterCounts), Optional.ofNullable(accounts.lastDeadLetter()),
        accounts.restarted(), suspended, leftovers, List.copyOf(unresponsive));
  }

  /**
   * Makes this scope and its inner scopes refuse new members, before any member ends. But the inner
   * scope of a block accepts actors until its own close begins.
   */
  final void refuseNewMembers() {
    isShut = parent != null;
    stopWatchdog();
    closeHooks.runAll();
    for (var innerScope : innerScopes()) if (!innerScope.isBlockScope()) innerScope.refuseNewMembers();
  }

  /** Makes this close the pending close, unless there is one. Returns the pending close. */
  final PendingClose claim(PendingClose close) {
    var presentClose = pendingClose.compareAndExchange(null, close);
    return presentClose == null ? close : presentClose;
  }

  /**
   * Returns the waits of the closes of this scope, its inner scopes and its outer scopes. Returns
   * empty if a close is at work. If two results are equal, no close has continued in between.
   */
  final Optional<List<PendingClose.ExitWait>> closeWaits() {
    var waits = new ArrayList<PendingClose.ExitWait>();
    boolean isAnyAtWork = false;
    for (var outer = parent; outer != null && !isAnyAtWork; outer = outer.parent)
      isAnyAtWork = !outer.addCloseWait(waits);
    return isAnyAtWork || !addCloseWaits(waits) ? Optional.empty() : Optional.of(waits);
  }

  private boolean addCloseWaits(List<PendingClose.ExitWait> waits) {
    if (!addCloseWait(waits)) return false;
    for (var innerScope : innerScopes()) if (!innerScope.addCloseWaits(waits)) return false;
    return true;
  }

  /**
   * Adds the wait of this scope's close, if the close waits. Returns false if the close is at work.
   */
  private boolean addCloseWait(List<PendingClose.ExitWait> waits) {
    var close = pendingClose.get();
    if (close == null) return closerCount.get() == 0;
    if (close.isDone()) return true;
    var wait = close.currentWait();
    if (wait != null) waits.add(wait);
    return wait != null;
  }

  final void reopen() {
    accounts.forgetLetters();
    forgetFailures();
    pendingClose.set(null);
  }

  public final boolean isClosed() {
    return isShut;
  }

  final boolean isClosing() {
    return isShut || pendingClose.get() != null;
  }
}
