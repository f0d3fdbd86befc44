package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.ExitReason;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Recipient;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.queue.PoolBlockers;
import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The internal operations of an actor.
 *
 * <h2>The end</h2> {@code OPEN -> ENDING -> LEAVING -> ENDED}. Only OPEN accepts messages.
 * {@code askExit} sets ENDING and appends the pill; {@code sendPoisonPill} only appends the pill.
 * The drain reads the phase before each message: if it is later than OPEN, the message is
 * undelivered. At the pill the drain sets LEAVING, disposes of the messages behind the pill,
 * releases the right to run, and only then runs the hooks. A sender that saw OPEN earlier may get
 * the right to run after that release; the sender then disposes of its message itself.
 *
 * <p>{@code OPEN <-> RESTARTING}: another actor's failure requests a restart, and the drain
 * restarts this actor before the next message.
 */
public abstract class Cell extends PlainQueue implements Recipient, Watches.Watcher {
  private static final VarHandle PHASE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "phase",
      VarHandle.class, PlainQueue.class, byte.class);
  private static final VarHandle EXTRAS = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "extras",
      VarHandle.class, Cell.class, ColdState.class);
  private static final Runnable NOTHING = () -> {};

  // The next two are used by the drain only
  protected Object state;
  protected boolean hasState;
  private volatile ColdState extras; // null until first needed

  protected Cell(ActorBehavior behavior) {
    super(behavior);
  }

  @Override
  public final boolean mayLogContents() {
    return owner().options().mayShowMessageContents();
  }

  @Override
  public final void runOffThread(Runnable code) {
    owner().accounts().runOffThread(code);
  }

  @Override
  public final boolean tryRunOnFiber(Runnable code) {
    return owner().accounts().tryRunOnFiber(code);
  }

  public final OwningScope owner() {
    return behavior.settings.owner();
  }

  /**
   * Sends a message, and returns whether it was accepted. A refused message becomes a dead letter.
   */
  public abstract boolean send(Envelope envelope, Deadline deadline);

  /**
   * Called on the one thread that runs all timers. Runs {@code sending} there, or on another thread
   * if the send may call user code.
   */
  public abstract void sendFromTimer(Runnable sending);

  public abstract void kill(ExitReason reason);

  protected abstract int capacity();

  /** Returns the actor that users know: for a worker, its pool. */
  public Cell publicCell() {
    return this;
  }

  /** Returns the workers of a pool and then the pool, or only this actor if it is no pool. */
  public List<Cell> workersAndSelf() {
    return List.of(this);
  }

  @Override
  public boolean isPool() {
    return false;
  }

  @Override
  public boolean hasOtherWorkers() {
    return false;
  }

  @Override
  public PoolBlockers<Object> blockers(Wait wait) {
    return null;
  }

  /** Called when the drain handles a pill. Returns whether this pill ends the actor. */
  protected boolean isReadyToEnd() {
    return true;
  }

  /** Called in phase LEAVING or ENDED. Returns whether only the hooks remain to be run. */
  protected boolean hasOnlyHooksLeft() {
    return true;
  }

  /**
   * Returns the drain that handles this request. If no drain handles the request yet, returns a
   * drain whose message may delay the request. Returns null if there is no such drain.
   */
  protected HandlerContext drainFor(RequestFuture<?> request) {
    return drain();
  }

  /**
   * Called by the drain before it suspends the actor. Returns the node at which to continue.
   *
   * @param handled whether the node has been handled
   */
  protected Object beforeSuspension(Object node, boolean handled) {
    return node;
  }

  /** Called after the end, when no thread uses the actor any more. */
  protected void threadExited() {
    owner().forget(this, label());
  }

  /**
   * Returns whether accepting a message calls no user code, such as a strategy, the comparator of a
   * mailbox or the key function of a pool.
   */
  protected boolean acceptsWithoutUserCode() {
    return settings().ownsThreads();
  }

  protected boolean isSelective() {
    return false;
  }

  /**
   * Takes the first node whose message meets the condition. Returns null if the deadline has
   * passed, the thread was interrupted or the actor is ending before such a message comes.
   */
  protected Object receive(Predicate<Object> condition, Deadline deadline) {
    throw new UnsupportedOperationException("the mailbox of actor '" + name() + "' is not selective");
  }

  /** Puts the nodes in front of all waiting messages. */
  protected void putBack(List<Object> nodes) {}

  final ColdState extrasOrNull() {
    return extras;
  }

  public final ColdState extras() {
    var coldState = extras;
    if (coldState != null) return coldState;
    var newColdState = new ColdState(null, null);
    return EXTRAS.compareAndSet(this, null, newColdState) ? newColdState : extras;
  }

  /**
   * Sets the name and the protocol of the actor; either may be null. Called before any other thread
   * knows the actor.
   */
  public final void setIdentity(String label, Class<?> type) {
    if (label != null || type != null) extras = new ColdState(label, type);
  }

  /**
   * Returns the extras, which store the actor's own counts. Returns null if the counts are shown
   * nowhere.
   */
  final ColdState ownCounts() {
    var coldState = extras;
    return coldState != null || !owner().isTracked(null) ? coldState : extras();
  }

  public final String label() {
    return extras == null ? null : extras.label;
  }

  @Override
  public String name() {
    var label = label();
    return label != null ? label : "anonymous@" + Integer.toHexString(System.identityHashCode(this));
  }

  @Override
  public final Watches watches() {
    return extras().watches(this);
  }

  public final Baggage baggage(Object message) {
    return Baggage.isUsed() ? Baggage.of(captureContext(message), isPool()) : null;
  }

  public final Baggage baggageOfAsk(Object message) {
    return Baggage.isUsed() ? Baggage.ofAsk(captureContext(message)) : null;
  }

  /**
   * Returns the context that the actor's context propagators capture on the sender's thread.
   * Returns null if the actor has no propagators.
   */
  public final Object[] captureContext(Object message) {
    return Baggage.captureContext(settings().contextPropagators(), (Actor<?>) publicCell(), message);
  }

  @Override
  public Wait.WaitingHandler blocker() {
    var hooks = hooksDrain();
    return hooks != null ? hooks : drain();
  }

  protected final Wait.WaitingHandler hooksDrain() {
    return extras == null ? null : extras.hooksDrain;
  }

  @Override
  public boolean isCurrent() {
    var currentThread = Thread.currentThread();
    var drain = drain();
    var hooks = hooksDrain();
    return drain != null && drain.thread == currentThread || hooks != null && hooks.thread == currentThread;
  }

  /**
   * Returns whether an earlier drain has left the hooks to this drain. If so, this drain must run
   * the hooks.
   */
  protected boolean takeHooks() {
    boolean wasPending = hooksPending;
    if (wasPending) hooksPending = false;
    return wasPending;
  }

  @Override
  public final boolean isStranded() {
    return stranded != null;
  }

  @Override
  public final boolean isEnding() {
    return phase > OPEN;
  }

  @Override
  public final boolean isBeingKilled() {
    return extras().beingKilled;
  }

  /**
   * Stops accepting messages: changes OPEN to ENDING and adds the pill, unless another thread has
   * done so.
   */
  public final void stopAccepting(ExitReason reason) {
    extras().setReason(reason);
    stopAccepting(NOTHING);
  }

  /**
   * Stops accepting messages. Always runs {@code beforePill}. Runs it before adding the pill,
   * because the pill can end a handler's wait for a message.
   */
  final void stopAccepting(Runnable beforePill) {
    var pill = new Envelope(EngineMessage.PILL);
    StackProbe.probe(); // an actor in phase ENDING without a pill would never end
    boolean changed = false;
    for (byte oldPhase = phase; oldPhase <= OPEN && !changed; oldPhase = phase)
      changed = PHASE.compareAndSet(this, oldPhase, ENDING);
    try {
      beforePill.run();
    } finally {
      if (changed) pushOrReopen(pill);
    }
    if (extras != null) wake(); // the end does not wait until a back-off is over
  }

  private void pushOrReopen(Envelope pill) {
    try {
      push(pill);
    } catch (Throwable error) { // without a pill the actor must stay open
      if (phase == ENDING) phase = OPEN;
      throw error;
    }
  }

  /**
   * Called when the drain takes the pill. Sets LEAVING under the monitor that a killer holds while
   * it interrupts the handler.
   */
  protected void setLeaving() {
    var coldState = extras();
    synchronized (coldState) {
      if (phase < LEAVING) phase = LEAVING;
    }
  }

  final void markEnded() {
    synchronized (extras()) {
      phase = ENDED;
    }
    freeName();
  }

  public final void freeName() {
    owner().freeName(this, label());
  }

  /** Returns whether the actor was cut off, so that its handler may still run after the end. */
  public final boolean isCutOff() {
    return phase == ENDED && !extras().endedNormally;
  }

  /**
   * Changes OPEN to RESTARTING, and wakes the drain.
   *
   * @param pause nanoseconds before the restart
   */
  public void requestRestart(long pause) {
    extras().requestRestartAfter(pause);
    if (PHASE.compareAndSet(this, OPEN, RESTARTING)) push(new Envelope(null));
  }

  /** Changes RESTARTING to OPEN; called by the drain. Returns whether a restart was requested. */
  final boolean takeRestartRequest() {
    return PHASE.compareAndSet(this, RESTARTING, OPEN);
  }

  public String kind() {
    return settings().strategy().toString();
  }

  public abstract String activity();

  public long handled() {
    var drain = countedDrain();
    return (extras == null ? 0 : extras.handled) + (drain == null ? 0 : drain.completedSteps());
  }

  /** Returns the drain. Returns null if the actor is idle, or its messages do not count. */
  public final HandlerContext countedDrain() {
    return settings().excludedFromAccounts() ? null : drain();
  }

  public long failed() {
    return extras == null ? 0 : extras.failed;
  }

  /**
   * Returns whether this actor has nothing to do. If the scope has a manual clock, an actor is also
   * quiet while it waits for that clock, or for an actor of {@code others}, which the caller also
   * examines.
   */
  public final boolean isQuiet(Set<Cell> others) {
    if (phase == LEAVING) return false;
    var clock = owner().options().scheduler();
    if (extras != null && (extras.hooksDrain != null || extras.hasDueTimer(clock.nanoTime()))) return false;
    return isIdle() || clock.isManual() && isWaiting(clock, others);
  }

  private boolean isWaiting(Scheduler clock, Set<Cell> others) {
    if (isBlocked() || extras != null && extras.isSuspended()) return true;
    var drain = drain();
    var thread = drain == null ? null : drain.thread;
    if (thread == null || drain.message == null) return false;
    var wait = drain.currentWait();
    return clock.isAsleep(thread) || wait != null && wait.isForAnswerOf(others);
  }

  /**
   * Returns whether the handler waits for a message that has not come, or whether no worker of a
   * pool can begin a message.
   */
  protected boolean isBlocked() {
    return false;
  }

  /** Counts the waiting and the stashed messages, up to {@code max}. */
  public final int countQueued(int max) {
    return Math.min(countQueued(currentNode(), max) + stashedCount(), max);
  }

  /**
   * Returns whether at most {@code max} messages wait or are stashed. Returns false also if the
   * number of messages is uncertain.
   */
  public final boolean hasAtMostQueued(int max) {
    return hasAtMostQueued(currentNode(), max - stashedCount());
  }

  private Object currentNode() {
    var drain = drain();
    Object node = drain == null ? null : drain.currentNode(); // read once: the drain may clear it
    return node != null ? node : extras == null ? null : extras.suspendedNode();
  }

  private int stashedCount() {
    int count = 0;
    if (extras != null) for (var node : extras.stash) if (holdsMessage(node)) count++;
    return count;
  }
}
