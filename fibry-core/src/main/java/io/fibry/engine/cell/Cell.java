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
 * An actor from inside.
 *
 * <h2>The end</h2> {@code OPEN -> ENDING -> LEAVING -> ENDED}. Only OPEN takes messages.
 * {@code askExit} sets ENDING and appends the pill; {@code sendPoisonPill} only appends it. The
 * drain reads the phase before each message: after OPEN it is undelivered. At the pill the drain
 * sets LEAVING, disposes of the rest of the queue, releases the right to run, and only then runs
 * the hooks. A sender that saw OPEN before may now get the right to run; it disposes of its message
 * itself.
 *
 * <p>{@code OPEN <-> RENEW}: the drain restarts the actor before the next message, because of
 * another actor's failure.
 */
public abstract class Cell extends PlainQueue implements Recipient, Watches.Watcher {
  private static final VarHandle PHASE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "phase",
      VarHandle.class, PlainQueue.class, byte.class);
  private static final VarHandle EXTRAS = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "extras",
      VarHandle.class, Cell.class, ColdState.class);
  private static final VarHandle WORKER = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "worker",
      VarHandle.class, Cell.class, HandlerContext.class);
  private static final Runnable NOTHING = () -> {};

  protected final ActorBehavior behavior;
  protected Object state; // drain only, as the next three
  protected boolean hasState;
  protected boolean pillMet;
  protected boolean hooksPending; // the drain failed between the pill and the hooks
  // The drain that runs the actor, or null while it is idle. Set by senders and drains, read by
  // killers
  private HandlerContext worker;
  private volatile ColdState extras; // null -> one, when first needed

  protected Cell(ActorBehavior behavior) {
    this.behavior = behavior;
  }

  public final ActorSettings settings() {
    return behavior.settings;
  }

  @Override
  public final boolean mayLogContents() {
    return owner().options().hasMessageContents();
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

  /** Gets a stranded right to run a thread. Throws nothing once entered. */
  protected abstract void recover(Throwable failure);

  protected abstract void suspend(Object node, long pause);

  /** Ends a suspension, if any. */
  protected abstract void wake();

  /** If refused, the message becomes a dead letter. */
  public abstract boolean send(Envelope envelope, Deadline deadline);

  /** For the thread of all timers: where this code may run code of a user, another thread does. */
  public abstract void sendFromTimer(Runnable sending);

  public abstract void kill(ExitReason reason);

  /** On this thread, if it is idle and no code of a user runs at its end. */
  public abstract boolean endIdle();

  protected abstract int capacity();

  /** Returns the actor that users know: for a worker, its pool. */
  public Cell publicCell() {
    return this;
  }

  /** For a pool: its workers, then itself. */
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

  protected boolean isReadyToEnd() {
    return true;
  }

  /** Whether, once LEAVING, only its hooks are left. */
  protected boolean isAtHooks() {
    return true;
  }

  /**
   * The drain that handles this request, or will. Returns null if no worker is handling the
   * request.
   */
  protected HandlerContext workerOn(RequestFuture<?> request) {
    return worker();
  }

  /** Returns the node at which to continue. */
  protected Object beforeSuspension(Object node, boolean handled) {
    return node;
  }

  /** Its thread is done, too. */
  protected void threadExited() {
    owner().forget(this, label());
  }

  /** Whether a message that is taken calls no user code: no strategy, no order, no key. */
  protected boolean onlyQueues() {
    return settings().ownsThreads();
  }

  protected boolean isSelective() {
    return false;
  }

  /** Returns null if no fitting message came in time. */
  protected Object receive(Predicate<Object> fits, Deadline deadline) {
    throw new UnsupportedOperationException("the mailbox of actor '" + name() + "' is not selective");
  }

  /** Puts nodes before all that waits. */
  protected void putBack(List<Object> nodes) {}

  final ColdState extrasOrNull() {
    return extras;
  }

  public final ColdState extras() {
    var present = extras;
    if (present != null) return present;
    var fresh = new ColdState(null, null);
    return EXTRAS.compareAndSet(this, null, fresh) ? fresh : extras;
  }

  /** Called before any other thread knows the actor. */
  public final void setIdentity(String label, Class<?> type) {
    if (label != null || type != null) extras = new ColdState(label, type);
  }

  /** Where the actor keeps its own counts, or null if they are not shown anywhere. */
  final ColdState ownCounts() {
    var present = extras;
    return present != null || !owner().isTracked(null) ? present : extras();
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
   * Returns the context that the carriers of the actor find on the sender's thread. Returns null if
   * the actor has no carriers.
   */
  public final Object[] captureContext(Object message) {
    return Baggage.captureContext(settings().contextPropagators(), (Actor<?>) publicCell(), message);
  }

  public final HandlerContext worker() {
    return (HandlerContext) WORKER.getAcquire(this);
  }

  @Override
  public Wait.WaitingHandler blocker() {
    var hooks = hooks();
    return hooks != null ? hooks : worker();
  }

  protected final Wait.WaitingHandler hooks() {
    return extras == null ? null : extras.hooks;
  }

  /** Lets killers find what waits, though the drain has no thread yet. Once: it may have gone. */
  final void announce(HandlerContext drain) {
    WORKER.setRelease(this, drain);
  }

  final void setWorker(HandlerContext drain) {
    if (drain == null) WORKER.setRelease(this, null);
    // before the drain reads the phase; a killer writes the phase, then reads this
    else WORKER.setVolatile(this, drain);
  }

  @Override
  public boolean isCurrent() {
    var now = Thread.currentThread();
    var drain = worker();
    var hooks = hooks();
    return drain != null && drain.thread == now || hooks != null && hooks.thread == now;
  }

  /** Whether an earlier drain left the hooks to this one. */
  protected boolean takeHooks() {
    boolean pending = hooksPending;
    if (pending) hooksPending = false;
    return pending;
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

  /** Changes OPEN to ENDING and sends the pill; does nothing if the door is already shut. */
  public final void stopAccepting(ExitReason why) {
    extras().setReason(why);
    stopAccepting(NOTHING);
  }

  /** Runs {@code first} before a handler that waits for a message can notice. */
  final void stopAccepting(Runnable first) {
    var pill = new Envelope(EngineMessage.PILL);
    StackProbe.probe(); // an actor with a shut door and no pill would never end
    boolean shut = false;
    for (byte now = phase; now <= OPEN && !shut; now = phase) shut = PHASE.compareAndSet(this, now, ENDING);
    try {
      first.run();
    } finally {
      if (shut) pushOrReopen(pill);
    }
    if (extras != null) wake(); // an end does not wait for a restart
  }

  private void pushOrReopen(Envelope pill) {
    try {
      push(pill);
    } catch (Throwable edge) { // as above
      if (phase == ENDING) phase = OPEN;
      throw edge;
    }
  }

  /** At the pill: -> LEAVING, under the monitor a killer holds to interrupt the handler. */
  protected void enterLeaving() {
    var present = extras();
    synchronized (present) {
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

  /** Whether its handler may still run after its end. */
  public final boolean isCutOff() {
    return phase == ENDED && !extras().endedNormally;
  }

  /** OPEN -> RENEW, and wakes it. */
  public void requestRestart(long pause) {
    extras().requestRestartAfter(pause);
    if (PHASE.compareAndSet(this, OPEN, RESTARTING)) push(new Envelope(null));
  }

  /** RENEW -> OPEN, by the drain. */
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

  /** {@return the drain, if the messages that it handles are counted, or null} */
  public final HandlerContext countedDrain() {
    return settings().excludedFromAccounts() ? null : worker();
  }

  public long failed() {
    return extras == null ? 0 : extras.failed;
  }

  /**
   * Returns whether this actor has nothing to do. With a clock that a test moves, an actor is also
   * quiet while it waits for that clock, or for one of {@code others}, which are examined as well.
   */
  public final boolean isQuiet(Set<Cell> others) {
    if (phase == LEAVING) return false;
    var clock = owner().options().scheduler();
    if (extras != null && (extras.hooks != null || extras.hasDueTimer(clock.nanoTime()))) return false;
    return isIdle() || clock.isManual() && isWaiting(clock, others);
  }

  private boolean isWaiting(Scheduler clock, Set<Cell> others) {
    if (isBlocked() || extras != null && extras.isSuspended()) return true;
    var drain = worker();
    var thread = drain == null ? null : drain.thread;
    if (thread == null || drain.message == null) return false;
    var wait = drain.currentWait();
    return clock.isAsleep(thread) || wait != null && wait.isForAnswerOf(others);
  }

  /** Its handler waits for a message that has not come; or, of a pool, no worker can begin one. */
  protected boolean isBlocked() {
    return false;
  }

  /** With the stash; counts up to {@code most}. */
  public final int countQueued(int most) {
    return Math.min(countQueued(currentNode(), most) + stashed(), most);
  }

  /** False also where that is not certain. */
  public final boolean hasAtMostQueued(int most) {
    return hasAtMostQueued(currentNode(), most - stashed());
  }

  private Object currentNode() {
    var drain = worker();
    Object node = drain == null ? null : drain.currentNode(); // read once: the drain may give it up now
    return node != null ? node : extras == null ? null : extras.suspendedNode();
  }

  private int stashed() {
    return extras == null ? 0 : extras.stashed();
  }
}
