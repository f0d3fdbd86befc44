package io.fibry.engine.scope;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.Blueprint;
import io.fibry.engine.cell.Accounts;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.message.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scope: whom it owns, by what options. How it ends is {@link ScopeClosing}, what it does about
 * failures {@link Supervisor}, what became of its messages {@link Accounts}.
 */
public final class Scope implements ActorScope {
  public static final Logger LOG = LoggerFactory.getLogger(ActorSystem.class);
  public static final Scope ROOT = new Scope("root", Options.DEFAULT, null);

  private final String name;
  private final Scope around; // null: this is the root
  private final Accounts accounts;
  private final Supervisor supervisor = new Supervisor(this);
  private final ConcurrentHashMap<String, ActorCell> living = new ConcurrentHashMap<>(); // by name
  // cells and scopes, each with its number; a cell leaves when its thread has, which may be after
  // its end
  private final ConcurrentHashMap<Object, Long> members = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  // null -> the one close; the root's back to null
  private final AtomicReference<ScopeClosing> closing = new AtomicReference<>();
  // the door: false -> true, by whoever closes this scope or one around it; never the root's
  private volatile boolean shut;
  private final Watchdog watchdog = new Watchdog(this);
  // written by `configure`, read by whoever makes or uses an actor
  private volatile Options options;

  public Scope(String name, Options options, Scope around) {
    this.name = checked(name);
    this.options = options;
    this.around = around;
    this.accounts = new Accounts(this, around == null ? null : around.accounts);
  }

  @Override
  public String name() {
    return name;
  }

  public Options options() {
    return options;
  }

  public Scope around() {
    return around;
  }

  public Accounts accounts() {
    return accounts;
  }

  public Supervisor supervisor() {
    return supervisor;
  }

  public synchronized void configure(UnaryOperator<Options> change) {
    options = Objects.requireNonNull(Objects.requireNonNull(change, "options").apply(options), "the changed options");
    watchdog.heed(options);
  }

  // ---- making

  @Override
  public ActorBuilder<Object> anonymous() {
    return Blueprint.of(this, null);
  }

  @Override
  public ActorBuilder<Object> named(String name) {
    return Blueprint.of(this, checked(name));
  }

  public static String checked(String name) {
    if (name.isBlank())
      throw new IllegalArgumentException("a blank name tells nobody anything; give one, or use anonymous()");
    return name;
  }

  @Override
  @SuppressWarnings("unchecked") // it was made with this protocol
  public <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    Objects.requireNonNull(protocol, "protocol");
    var cell = living.get(Objects.requireNonNull(name, "name"));
    return cell != null && cell.rich().type == protocol ? Optional.of((Actor<M>) (Actor<?>) cell) : Optional.empty();
  }

  @Override
  public ActorScope openScope(String name) {
    return openScope(name, same -> same);
  }

  @Override
  public ActorScope openScope(String name, UnaryOperator<Options> options) {
    var below = new Scope(name,
        Objects.requireNonNull(Objects.requireNonNull(options, "options").apply(this.options), "the changed options"),
        this);
    join(below);
    below.watchdog.heed(below.options);
    return below;
  }

  /** A new actor; the anonymous ones of the root are nobody's. */
  public void admit(ActorCell cell, String label, Class<?> type) {
    if (!tracks(label)) return;
    cell.introduce(label, type);
    if (label != null) register(cell, label);
    try {
      join(cell);
    } catch (IllegalStateException closed) {
      free(cell, label);
      Dispatch.turnAway(cell);
      throw closed;
    }
  }

  private boolean tracks(String label) {
    return around != null || label != null;
  }

  private void register(ActorCell cell, String name) {
    if (living.putIfAbsent(name, cell) != null)
      throw new IllegalArgumentException("scope '" + this.name + "' has a living actor named '" + name
          + "'; choose another name, or wait until that one has ended");
  }

  /**
   * Joins, then looks at the door, while a close shuts the door, then looks who is here: one of the
   * two sees the other.
   */
  private void join(Object member) {
    members.put(member, numbers.incrementAndGet());
    if (!shut) return;
    members.remove(member);
    leaveIfEmpty();
    throw new IllegalStateException(
        "scope '" + name + "' is closed, so it takes nothing new; make it in a scope that is open");
  }

  public void free(ActorCell cell, String name) {
    if (name != null) living.remove(name, cell);
  }

  /** It is gone for good, and its thread too. */
  public void forget(Object member) {
    if (member instanceof ActorCell cell && !tracks(cell.label())) return;
    members.remove(member);
    leaveIfEmpty();
  }

  /**
   * The last one out of a scope that is being closed ends the close: who waits for its report may
   * be somebody the closer has yet to come to. Until then, as long as a handler ignores its end,
   * the scope is remembered.
   */
  public void leaveIfEmpty() {
    var close = closing.get();
    if (!shut || close == null || !members.isEmpty()) return;
    close.finish();
    around.forget(this);
  }

  // ---- who is in it

  /** Actors and scopes, oldest first. */
  public List<Object> members() {
    return membersSince(0);
  }

  public List<Object> membersFrom(Object oldest) {
    // nobody is known to be younger than one that is not known
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

  /** The actors of a member: itself, or all below. */
  public static List<ActorCell> cells(Object member) {
    if (member instanceof ActorCell cell) return cell.crew();
    var all = new ArrayList<ActorCell>();
    for (var one : ((Scope) member).members()) all.addAll(cells(one));
    return all;
  }

  // ---- accounts and sight

  public void countHandled(long messages) {
    accounts.countHandled(messages);
  }

  public void countUnhandled(Reason reason) {
    accounts.countUnhandled(reason);
  }

  public void deadLetter(ActorCell cell, Object message, Reason reason, Throwable cause) {
    accounts.deadLetter(cell, message, reason, cause);
  }

  public long handled() {
    return accounts.handled();
  }

  public long unhandled(Reason reason) {
    return accounts.unhandled(reason);
  }

  @Override
  public Report report() {
    return report(List.of());
  }

  public Report report(List<DeadLetter> leftovers) {
    long waiting = 0;
    var running = new ArrayList<String>();
    for (var cell : cells(this)) {
      waiting += cell.waiting(Integer.MAX_VALUE);
      // of a pool its workers run
      if (cell.rich().isAway() && cell.crew().size() == 1) running.add(cell.name());
    }
    var unhandled = accounts.unhandled();
    long handled = accounts.handled();
    long sent = handled + waiting + unhandled.values().stream().mapToLong(Long::longValue).sum();
    return new Report(name, sent, handled, unhandled, waiting, leftovers, List.copyOf(running));
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return accounts.letters();
  }

  @Override
  public String dump() {
    return Dump.of(this);
  }

  /**
   * Twice in a row nobody at work, and nothing happened in between: then nobody was at work in
   * between.
   */
  @Override
  public boolean awaitQuiet(Duration limit) {
    long most = Deadline.nanos(Deadline.notNegative(limit, "limit"));
    long began = System.nanoTime();
    for (long pause = 20_000;; pause = Math.min(1_000_000, pause * 2)) {
      long before = accounts.total();
      if (isIdle() && isIdle() && accounts.total() == before) return true;
      if (System.nanoTime() - began >= most) return false;
      if (Thread.currentThread().isInterrupted())
        throw new CancellationException("interrupted while waiting for scope '" + name + "' to be quiet");
      LockSupport.parkNanos(this, pause);
    }
  }

  private boolean isIdle() {
    return cells(this).stream().allMatch(ActorCell::isQuiet);
  }

  // ---- the end

  @Override
  public void close() {
    close(options.drainLimit, true);
  }

  @Override
  public Report closeWithin(Duration limit) {
    return close(Deadline.notNegative(limit, "limit"), false);
  }

  private Report close(Duration limit, boolean logs) {
    shutDoors();
    var mine = new ScopeClosing(this);
    var first = claim(mine);
    if (first != mine) return first.join();
    try {
      var report = mine.run(Deadline.within(options.scheduler, limit));
      if (logs && !(report.leftovers().isEmpty() && report.running().isEmpty())) log(report);
    } finally {
      if (around == null) reopen();
    }
    return mine.result();
  }

  private void log(Report report) {
    LOG.warn("scope '{}' closed and left {} messages; handlers that still run: {}; the first messages: {}", name,
        report.leftovers().size(), report.running(), report.leftovers().stream().limit(10).toList());
  }

  /** The root lives on. */
  private void reopen() {
    accounts.forgetLetters();
    closing.set(null);
    watchdog.heed(options);
  }

  /**
   * Shuts the doors of this scope and of all below, then looks who is in: before anybody ends, so
   * that nobody new comes while others do.
   */
  public void shutDoors() {
    shut = around != null;
    watchdog.stop();
    for (var member : members()) if (member instanceof Scope below) below.shutDoors();
  }

  /** After the door is shut: makes this the one close, unless there is one; answers the one. */
  public ScopeClosing claim(ScopeClosing mine) {
    var first = closing.compareAndExchange(null, mine);
    return first == null ? mine : first;
  }

  public boolean isClosing() {
    return shut || closing.get() != null;
  }
}
