package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.RequestOutcome;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.jvm.NoAction;
import io.fibry.engine.jvm.Rescuable;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Recipient;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.queue.PoolBlockers;
import io.fibry.mailbox.Mailbox;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * An actor as the engine sees it: its phases, the parts that are attached to it, and its end.
 *
 * <p><b>Phases.</b>
 *
 * <pre>
 *   OPEN            -> ENDING   any thread   no further message is accepted
 *   OPEN or ENDING  -> LEAVING  the drain    at the pill
 *   LEAVING         -> ENDED    one thread   after the hooks
 *   any phase       -> ENDED    one thread   a cut-off
 * </pre>
 *
 * <p>{@code OPEN <-> RESTARTING}: another actor's failure requests a restart, and the drain
 * restarts this actor before the next message. {@code stopAccepting} also changes RESTARTING to
 * ENDING, and {@code pushOrReopen} changes ENDING back to OPEN if the pill cannot be added.
 *
 * <p>{@code askExit} sets ENDING and appends the pill; {@code sendPoisonPill} only appends the
 * pill. The drain reads the phase before each message: if it is later than OPEN, the message is
 * undelivered. At the pill the drain sets LEAVING, disposes of the messages behind the pill,
 * releases the right to run, and only then runs the hooks. A sender that saw OPEN earlier may get
 * the right to run after that release; the sender then disposes of its message itself.
 *
 * <p><b>The end.</b> The drain makes dead letters of stashed messages and runs the stop hook. It
 * then ends timers and watches, fails promised requests, closes resources in reverse order, and
 * announces the end. If no user code runs at the end, any thread that has the right to run may take
 * these steps ({@code finishWithoutWork}).
 *
 * <p><b>A kill.</b> {@code kill} stops accepting messages, interrupts the handler (or the hooks, if
 * they run), and starts the timer of the kill grace. An interrupt for the handler never reaches a
 * hook, because the drain changes the phase between handler and hook, under the monitor of the
 * extras. When the grace is over, {@code cutOff} fails the requests and announces the end, while
 * the handler may still run. The waiting messages become dead letters when the handler returns.
 *
 * <p><b>Once.</b> {@code ColdState.beginEnd} and {@code ColdState.beginAnnouncement} each return
 * their result to one caller only. So the attached parts are ended once, and the end is announced
 * once, whichever thread comes first. Before the end is announced, a cut-off runs no user code.
 */
public abstract class Cell extends PlainQueue implements Recipient, Watches.Watcher {
  private static final VarHandle PHASE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "phase",
      VarHandle.class, PlainQueue.class, byte.class);
  private static final VarHandle DETAILS = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "details",
      VarHandle.class, Cell.class, Object.class);
  private static final Runnable NO_ACTION = new NoAction();
  private static final int MAX_ROUNDS = 16; // repetitions of failRequests; the last comes 1 min after the cut-off

  // The next two are used by the drain only
  protected Object state; // the object of a sink, or made by the behavior
  protected boolean hasState; // whether the behavior made the state
  // Null, the name, or a NameAndCounts, which takes their place when the actor gets a protocol, or
  // needs counts or extras
  private volatile Object details;

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

  /**
   * Sends a message, and returns whether it was accepted. A refused message becomes a dead letter.
   */
  public final boolean send(Envelope envelope, Deadline deadline) {
    Object message = envelope.message;
    var refusal = offer(envelope, deadline);
    reportRefusal(message, refusal);
    return refusal == null;
  }

  protected final Reason offer(Envelope envelope, Deadline deadline) {
    boolean isTaken = false;
    try {
      var refusal = offer(envelope, envelope.message, deadline);
      isTaken = refusal == null;
      return refusal;
    } finally {
      if (!isTaken) envelope.message = null; // otherwise a periodic timer would see a waiting message and skip its send
    }
  }

  /** Makes a dead letter of a refused message. Does nothing if {@code refusal} is null. */
  protected final void reportRefusal(Object message, Reason refusal) {
    if (refusal != null)
      DeadLetters.add(this, message, refusal == Reason.CANCELLED ? Reason.REJECTED : refusal, null);
  }

  /**
   * Called on the one thread that runs all timers. Runs {@code sending} there, or on another thread
   * if the send may call user code.
   */
  public final void sendFromTimer(Runnable sending) {
    if (acceptsWithoutUserCode()) DeadLetters.runWithoutListeners(sending);
    else GuaranteedStart.start(sending);
  }

  /** Returns the mailbox that the builder was given; unbounded if it was given none. */
  public Mailbox<?> mailbox() {
    return Mailbox.unbounded();
  }

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
   * Called by the drain before it suspends the actor, at a node that was handled or not. Returns
   * the node at which to continue.
   */
  protected Object beforeSuspension(Object node, boolean handled) {
    return node;
  }

  /** Called after the end, when no thread uses the actor any more. */
  protected void forgetEnded() {
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

  /** Returns null if the actor has at most a name. */
  private NameAndCounts detailsOrNull() {
    return details instanceof NameAndCounts nameAndCounts ? nameAndCounts : null;
  }

  /**
   * Safe without a lock: before other threads know the actor, only {@link #setIdentity} writes the
   * field. Afterwards the one change left, to a NameAndCounts, is made by a compare-and-set, and
   * the thread that loses takes the object of the other thread.
   */
  private NameAndCounts details() {
    Object oldDetails = details;
    if (oldDetails instanceof NameAndCounts nameAndCounts) return nameAndCounts;
    var newDetails = new NameAndCounts((String) oldDetails, null);
    return DETAILS.compareAndSet(this, oldDetails, newDetails) ? newDetails : (NameAndCounts) details;
  }

  final ColdState extrasOrNull() {
    var nameAndCounts = detailsOrNull();
    return nameAndCounts == null ? null : nameAndCounts.extrasOrNull();
  }

  public final ColdState extras() {
    return details().extras();
  }

  final Recovery recoveryOrNull() {
    var extras = extrasOrNull();
    return extras == null ? null : extras.recoveryOrNull();
  }

  /** Returns the node at which a suspended actor continues. Returns null if it is not suspended. */
  final Object suspendedNode() {
    var recovery = recoveryOrNull();
    return recovery == null ? null : recovery.suspendedNode();
  }

  /** Returns whether the actor is suspended and the timer that ends its suspension is set. */
  public final boolean isSuspended() {
    var recovery = recoveryOrNull();
    return recovery != null && recovery.isSuspended();
  }

  /** Sets the name and the protocol, which may be null, before another thread knows the actor. */
  public final void setIdentity(String label, Class<?> protocol) {
    if (label != null || protocol != null) details = protocol == null ? label : new NameAndCounts(label, protocol);
  }

  /** Gives a sink its object. Called before any other thread knows the actor. */
  public final void setObject(Object object) {
    state = object;
    VarHandle.storeStoreFence(); // a thread that gets the sink through a data race sees the object
  }

  /** Returns the actor that counts the restarts of this actor against a budget. */
  protected Cell budgetOwner() {
    return this;
  }

  /** Adds to the actor's own counts, unless they are never shown. Called by the drain. */
  protected void addToOwnCounts(int handled, int failed) {
    if (details == null && !owner().isMember(null)) return; // it has no name, and its scope does not list it
    try {
      var ownCounts = details();
      if (handled > 0) ownCounts.handled += handled;
      if (failed > 0) ownCounts.failed += failed;
    } catch (OutOfMemoryError noMemory) {} // the message is then missing only in the actor's own counts
  }

  public final String label() {
    Object current = details;
    return current instanceof NameAndCounts nameAndCounts ? nameAndCounts.label : (String) current;
  }

  /** Returns the protocol of the actor. Returns null if it has none. */
  public final Class<?> protocol() {
    var nameAndCounts = detailsOrNull();
    return nameAndCounts == null ? null : nameAndCounts.protocol;
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
    var extras = extrasOrNull();
    return extras == null ? null : extras.hooksDrain;
  }

  @Override
  public boolean isCurrent() {
    var currentThread = Thread.currentThread();
    var drain = drain();
    var hooks = hooksDrain();
    return drain != null && drain.thread == currentThread || hooks != null && hooks.thread == currentThread;
  }

  /** Returns whether an earlier drain has left the hooks to this drain, which must run them. */
  protected boolean takePendingHooks() {
    boolean wasPending = hooksPending;
    if (wasPending) hooksPending = false;
    return wasPending;
  }

  @Override
  public final boolean isStranded() {
    return stranded != null;
  }

  public String strategyText() {
    return settings().strategy().toString();
  }

  public abstract Activity activity();

  public long handled() {
    var drain = countedDrain();
    var counts = detailsOrNull();
    return (counts == null ? 0 : counts.handled) + (drain == null ? 0 : drain.completedSteps());
  }

  /** Returns the drain. Returns null if the actor is idle, or its messages do not count. */
  public final HandlerContext countedDrain() {
    return settings().excludedFromAccounts() ? null : drain();
  }

  public long failed() {
    var counts = detailsOrNull();
    return counts == null ? 0 : counts.failed;
  }

  /** Returns how many messages the full mailbox has not accepted. */
  public long refused() {
    return 0;
  }

  /** Returns how many messages the full mailbox has accepted and dropped later. */
  public long dropped() {
    return 0;
  }

  /** Counts a message that this actor has not handled. */
  protected void countUnhandled(Reason reason) {
    owner().accounts().countUnhandled(reason);
  }

  /**
   * Returns whether this actor has nothing to do. A connection is also quiet while it waits for
   * bytes of its client. Between two steps, it is also quiet while it waits for an actor of {@code
   * others}, which the caller also examines. If the scope has a manual clock, any actor is quiet
   * while it waits for that clock, or for such an actor.
   */
  public final boolean isQuiet(Set<Cell> others) {
    var clock = owner().options().scheduler();
    var extras = extrasOrNull();
    var hooks = extras == null ? null : extras.hooksDrain;
    if (hooks != null) return clock.isManual() && hooks.isWaitingFor(clock, others);
    if (phase == LEAVING) return isEndAwaitingWorkers(others);
    if (extras != null && extras.hasDueTimer(clock.nanoTime())) return false;
    var drain = drain();
    return isIdle() || drain != null && drain.isAwaitingPeer(others) || clock.isManual() && isWaiting(clock, others);
  }

  private boolean isWaiting(Scheduler clock, Set<Cell> others) {
    if (isBlocked() || isSuspended()) return true;
    var drain = drain();
    return drain != null && drain.message != null && drain.isWaitingFor(clock, others);
  }

  /**
   * Returns whether the end of a pool waits for a worker that is busy and quiet, because its
   * handler waits.
   */
  protected boolean isEndAwaitingWorkers(Set<Cell> others) {
    return false;
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

  final Object currentNode() {
    var drain = drain();
    Object node = drain == null ? null : drain.currentNode(); // read once: the drain may clear it
    return node != null ? node : suspendedNode();
  }

  private int stashedCount() {
    int count = 0;
    var extras = extrasOrNull();
    if (extras != null) for (var node : extras.stash) if (holdsMessage(node)) count++;
    return count;
  }

  // ---- phases

  /**
   * Changes OPEN to RESTARTING, and wakes the drain.
   *
   * @param pause nanoseconds before the restart
   */
  public void requestRestart(long pause) {
    extras().recovery().requestedPause = pause;
    if (PHASE.compareAndSet(this, OPEN, RESTARTING)) push(new Envelope(null));
  }

  /** Changes RESTARTING to OPEN; called by the drain. Returns whether a restart was requested. */
  final boolean takeRestartRequest() {
    return PHASE.compareAndSet(this, RESTARTING, OPEN);
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
    stopAccepting(NO_ACTION);
  }

  /**
   * Stops accepting messages. Runs {@code beforePill} before this thread adds the pill, because the
   * pill can end a handler's wait for a message. If another thread adds the pill, this thread still
   * runs {@code beforePill}.
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
    if (extrasOrNull() != null) wake(); // the end does not wait until a backoff is over
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

  /** Runs the stop hook, and drops the state: the next message gets a new state. */
  public final void dropState(String occasion) {
    try {
      behavior.stop(this);
    } catch (Throwable failure) {
      EngineLog.log().error("the stop hook of actor '{}' failed {}", name(), occasion, failure);
    } finally {
      if (hasState) { // otherwise the state is the object of a sink, which nobody could make again
        state = null;
        hasState = false;
      }
    }
  }

  // ---- the end

  /** Runs the hooks and the other steps of the end, after the release of the right to run. */
  final void finish(HandlerContext activation) {
    var extras = extras();
    if (activation.ownsThread()) Thread.interrupted(); // clears an interrupt that was meant for the handler
    extras.beginHooks(activation);
    try {
      for (var stashedNode : extras.stash) disposeOfStashed(stashedNode);
      extras.stash.clear();
      behavior.stop(this);
    } catch (Throwable failure) {
      EngineLog.log().error("the stop hook of actor '{}' failed", name(), failure);
    } finally {
      state = null;
      try {
        end(true);
      } finally { // otherwise the scope would keep the actor forever
        forgetEnded();
        extras.hooksDrain = null;
      }
    }
  }

  /**
   * Ends an actor on the calling thread, if the actor has nothing to close, to cancel or to dispose
   * of. Otherwise returns false, and a drain must end the actor.
   */
  final boolean finishWithoutWork() {
    var extras = extras();
    if (!extras.endWithoutWork()) return false;
    state = null;
    try {
      var watches = extras.watchesOrNull();
      if (watches != null) watches.end();
      announceEnd(true);
    } finally { // otherwise the scope would keep the actor forever
      forgetEnded();
    }
    return true;
  }

  /**
   * Disposes of a node. Logs a failure and does not throw it, so that the caller continues with the
   * other stashed nodes and the stop hook.
   */
  private void disposeOfStashed(Object node) {
    try {
      dispose(node);
    } catch (Throwable failure) { // no stack or memory, or user code
      EngineLog.log().error("actor '{}' could not make a dead letter of a stashed message", name(), failure);
      if (node instanceof RequestFuture<?> request && request.isUnanswered()) failOutOfMemory(request);
    }
  }

  /** Makes a dead letter of an unhandled message, or fails a request. */
  protected final void dispose(Object node) {
    if (node instanceof Envelope envelope) {
      Object message = envelope.message;
      envelope.message = null;
      if (message != null && message != EngineMessage.PILL) failUndelivered(message, null);
    } else {
      var request = (RequestFuture<?>) node;
      Object message = request.begin();
      if (message != null) failUndelivered(message, request);
      else if (request.isUnanswered()) failOutOfMemory(request); // an earlier call began the request, and failed
    }
  }

  final void failUndelivered(Object message, RequestFuture<?> request) {
    if (request == null) DeadLetters.addAtEnd(this, message);
    else {
      countUnhandled(Reason.UNDELIVERED);
      request.fail(publicCell().stopped(message, RequestOutcome.NOT_DONE));
    }
  }

  final void failOutOfMemory(RequestFuture<?> request) {
    request.fail(new IllegalStateException("actor '" + name() + "' had no stack or memory left to answer"));
  }

  /**
   * Ends the attached parts and announces the end. Only the first call acts: on the last thread of
   * the actor, or on the thread that cuts the actor off.
   *
   * @param isNormal false if the actor is cut off and its handler may still run
   */
  private void end(boolean isNormal) {
    var extras = extras();
    var parts = extras.beginEnd();
    if (parts == null) return;
    var unsentMessages = new ArrayList<Object>(); // the message of the newest timer first
    try {
      for (var timer = parts.pollTimer(); timer != null; timer = parts.pollTimer())
        if (!timer.isRemoved()) cancel(timer, unsentMessages);
      if (extras.watchesOrNull() != null) extras.watchesOrNull().end();
      for (var promise = parts.pollPromise(); promise != null; promise = parts.pollPromise())
        promise.request.fail(stopped(promise.message, RequestOutcome.UNKNOWN));
      for (var resource : parts.resources.reversed()) closeResource(resource);
      for (var listenerCall : parts.endCallbacks) listenerCall.run();
      for (var message : unsentMessages.reversed()) DeadLetters.add(this, message, Reason.TIMER_CANCELLED, null);
    } finally {
      announceEnd(isNormal);
    }
  }

  private void cancel(AttachedTimer timer, List<Object> unsentMessages) {
    try {
      var message = timer.cancelAtEnd();
      if (message.isPresent()) unsentMessages.add(message.get());
    } catch (Throwable failure) { // thrown by a user's scheduler
      EngineLog.log().error("actor '{}' could not cancel a timer", name(), failure);
    }
  }

  /** Announces the end. If the actor is cut off, its resources may still be open. */
  private void announceEnd(boolean isNormal) {
    var extras = extras();
    var reason = extras.beginAnnouncement();
    if (reason == null) return;
    extras.endedNormally = isNormal;
    markEnded();
    extras.notifyWaiters(); // before the calls below, which may run user code
    var watches = extras.watchesOrNull();
    if (watches != null) watches.announce(reason);
    cancelKillTimer(); // last, because it may call user code
  }

  protected final void closeResource(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Throwable failure) {
      EngineLog.log().error("actor '{}' could not close {}", name(), MessageTexts.describe(resource), failure);
    }
  }

  /** Ends the actor soon: interrupts it, and cuts it off when the grace is over. */
  public void kill(ExitReason reason) {
    if (phase == ENDED) return;
    var extras = extras();
    extras.setReason(reason);
    // interrupts before the pill is added, because adding the pill may call a user's strategy
    stopAccepting(new Interruption(this));
    // another thread may have announced the end before the timer was set
    if (extras.isNotified()) cancelKillTimer();
  }

  private void cancelKillTimer() {
    try {
      var timer = extras().killTimer;
      if (timer != null) timer.cancel();
    } catch (Throwable failure) { // thrown by a user's scheduler
      EngineLog.log().error("actor '{}' could not cancel the timer of its kill grace", name(), failure);
    }
  }

  /** Interrupts the actor, and starts the timer of its kill grace. */
  record Interruption(Cell cell) implements Runnable {
    @Override
    public void run() {
      cell.interrupt();
      var options = cell.owner().options();
      cell.extras().startKillTimer(options.scheduler(), options.killGrace(), new CutOffTimer(cell));
    }
  }

  /**
   * Interrupts the handler or, after the pill, the hooks. An interrupt for the handler never
   * reaches the hooks, because the drain changes the phase between them, under this monitor.
   */
  final void interrupt() {
    if (!settings().ownsThreads()) return;
    var extras = extras();
    synchronized (extras) {
      var drain = drain();
      var thread = drain == null || !drain.ownsThread() ? null : drain.thread;
      if (phase < LEAVING) {
        if (thread != null) thread.interrupt();
      } else if (hasOnlyHooksLeft()) extras.interruptHooks();
    }
  }

  /**
   * Cuts the actor off when the grace is over. This object is made at the kill, because at the end
   * of the grace memory may be exhausted.
   */
  record CutOffTimer(Cell cell) implements Runnable, Rescuable {
    @Override
    public void run() {
      EngineThreads.runOrRetry(this);
    }

    @Override
    public void rescue() {
      GuaranteedStart.start(new CutOffRun(cell));
    }
  }

  /**
   * A record, not a lambda: a lambda that is first linked without stack or memory may fail forever.
   */
  record CutOffRun(Cell cell) implements Runnable {
    @Override
    public void run() {
      cell.cutOff("within " + Durations.text(cell.owner().options().killGrace()));
    }
  }

  /**
   * Announces the end of an actor whose handler may still run. No user code runs on this thread
   * before the end is announced.
   */
  public final void cutOff(String limitText) {
    if (phase == ENDED) return;
    markEnded();
    failRequests(drain(), 0);
    announceEnd(false);
    EngineLog.log().warn("actor '{}' did not end {}; it is cut off, and its handler may still run", name(),
        limitText);
    end(false);
  }

  /**
   * Fails the requests of an actor that was cut off. Repeats this while the handler runs, because a
   * sender may be about to link a request, or the drain may be about to begin a request.
   */
  private void failRequests(HandlerContext drain, int round) {
    if (drain != null) failAllRequests(drain);
    else failRequests(suspendedNode());
    if (drain != null && drain() == drain && drain.thread != null && round < MAX_ROUNDS)
      Scheduler.system().schedule(Duration.ofMillis(1L << round), new FailRequestsRound(this, drain, round + 1, false));
  }

  record FailRequestsRound(Cell cell, HandlerContext drain, int round, boolean onFiber) implements Runnable {
    @Override
    public void run() {
      if (onFiber) cell.failRequests(drain, round);
      else GuaranteedStart.start(new FailRequestsRound(cell, drain, round, true));
    }
  }

  /**
   * Fails the current, received and waiting requests. May race with the drain: failing a request
   * twice does no harm.
   */
  private void failAllRequests(HandlerContext drain) {
    var currentRequest = drain.request;
    if (currentRequest != null) currentRequest.failStopped(drain.message);
    var received = drain.receivedRequests;
    if (received != null)
      for (var receivedRequest : received) receivedRequest.request().failStopped(receivedRequest.message());
    failQueuedRequests(drain);
  }

  public final void failQueuedRequests(HandlerContext drain) {
    for (var stashedNode : extras().stash)
      if (stashedNode instanceof RequestFuture<?> request) request.failIfQueued();
    failRequests(drain.currentNode());
  }
}
