package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.engine.cell.Activation.ActivationKind;
import io.fibry.engine.cell.OwningScope.Decision;
import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.jvm.Rescuable;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.AnswerType;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait.WaitingHandler;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.engine.world.Environment;
import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * The unbounded queue of an ordinary actor. Its tail is also the right to run the actor, and this
 * class provides a thread for that right. A cell extends this class; {@link #cell} returns it.
 *
 * <p><b>States.</b> {@code tail == null}: the actor is idle, and no thread has the right to run.
 * {@code tail == n}: one drain has the right to run, or a sender that is about to start it, and
 * {@code n} is the last node. An actor is never scheduled without a node.
 *
 * <p><b>Transitions.</b>
 *
 * <pre>
 *   null -> n     sender, getAndSet(n)   the sender has the right to run and starts a drain
 *   m    -> n     sender, getAndSet(n)   the sender then sets m.next = n, and the drain finds it
 *   null -> n     caller, CAS(null, n)   {@code acquire}: an inline request, or the end when idle
 *   n    -> null  drain,  CAS(n, null)   {@code release}: after the last node
 * </pre>
 *
 * So a message costs one atomic operation, and there is at most one drain.
 *
 * <p><b>The window.</b> Between {@code getAndSet} and the link, {@code m.next} is null although
 * {@code m} is not the last node. A drain that sees this waits for the link ({@link #awaitNext}).
 * In the window a sender calls no method, allocates no memory and initializes no class. An error in
 * the window would cut the queue in two, and the drain would wait forever.
 *
 * <p><b>Memory order.</b> The link is a plain write. The release fence before {@code getAndSet}
 * orders the writes of the message before the link; the acquire fence in {@code unlink} pairs with
 * it.
 *
 * <p><b>Start of a drain.</b> The right to run is never lost: a strategy that throws is called
 * again, with a backoff from 1 ms to 1 s. An {@link Activation} runs once, so it does no harm if a
 * strategy accepts an activation and then throws.
 *
 * <p><b>Stranded.</b> If neither a thread nor a timer can be started, for lack of stack or memory,
 * a plain assignment stores the right to run in {@code stranded}. If that happens to a sender and
 * no other node was added behind its node, the sender withdraws its node and throws. Otherwise
 * {@link #rescueLater} or the next sender tries again. The methods that take the right also strand
 * it after an error ({@link #attemptStart}, {@link Activation#runOnce}). So if the stack is
 * too small to call such a method, the right is not taken, and cannot be lost. Only {@link #push}
 * has the right before it calls {@code attemptStart}, because its swap of the tail also takes the
 * right.
 *
 * <p>If the start of an activation failed, the thread claims the activation, and then strands its
 * node, not the activation. Without the claim, two threads could start the activation. A late
 * failure of one start would then overwrite a newer right to run. A resident activation is stranded
 * itself ({@link Activation#reclaimRight}).
 *
 * <p>Code that runs when stack or memory is exhausted uses no lambdas, because the first linkage of
 * a lambda could then fail forever.
 *
 * <p><b>Rejected designs.</b> A flag "scheduled" beside the queue would cost a second atomic
 * operation per message. A volatile link would cost 5 to 10 ns per message.
 */
abstract class PlainQueue implements Rescuable {
  // The phases, which Cell explains
  protected static final byte RESTARTING = -1; // accepts messages; the drain restarts the actor before the next message
  protected static final byte OPEN = 0;
  protected static final byte ENDING = 1;
  protected static final byte LEAVING = 2;
  protected static final byte ENDED = 3;
  private static final int MAX_INLINE_DEPTH = 32;
  private static final int SPIN_CHECKS = 64;
  private static final int MAX_CHECKS = 256; // nodes that an observer checks for the newest message
  // nodes that an observer checks for a message that cannot expire; statistics count as many
  private static final int MAX_LASTING_CHECKS = 100_000;
  private static final VarHandle TAIL = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "tail",
      VarHandle.class, PlainQueue.class, Object.class);
  private static final VarHandle STRANDED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "stranded",
      VarHandle.class, PlainQueue.class, Object.class);
  private static final VarHandle DRAIN = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "drain",
      VarHandle.class, PlainQueue.class, Activation.class);

  protected final ActorBehavior behavior;
  // Any thread sets ENDING, the drain sets LEAVING, and the thread that ends the actor sets ENDED
  protected volatile byte phase;
  protected volatile Object stranded; // a right to run that has no thread: an Activation or a node
  private Object tail; // the last node, or null if idle. Swapped by senders, cleared by the drain

  // The next two are written by the drain, and by the thread that ends a pool
  protected boolean pillTaken; // the drain has taken the pill
  protected boolean hooksPending; // the pill was taken, and the next drain must run the hooks
  // The drain that runs the actor, or null while the actor is idle. Set by senders and drains, read
  // by killers
  private Activation drain;

  PlainQueue(ActorBehavior behavior) {
    this.behavior = behavior;
  }

  /** Returns this queue as the cell of which it is a part. */
  private Cell cell() {
    return (Cell) this;
  }

  public final ActorSettings settings() {
    return behavior.settings;
  }

  public final OwningScope owner() {
    return behavior.settings.owner();
  }

  // ---- the drain

  public final HandlerContext drain() {
    return activation();
  }

  private Activation activation() {
    return (Activation) DRAIN.getAcquire(this);
  }

  /**
   * Publishes a drain that has no thread yet, so that a killer can fail the requests that wait for
   * it. Called before the start of the drain only, because a started drain may have ended already.
   */
  final void announce(Activation activation) {
    DRAIN.setRelease(this, activation);
  }

  final void setDrain(Activation activation) {
    if (activation == null) DRAIN.setRelease(this, null);
    // before the drain reads the phase: a killer writes the phase, then reads this field
    else DRAIN.setVolatile(this, activation);
  }

  // ---- the queue, for senders

  protected Reason offer(Object message, Baggage baggage) {
    return offer(new Envelope(message, baggage), message, Deadline.NONE);
  }

  /** Adds a message. Returns null if it was accepted, otherwise the reason of the refusal. */
  protected Reason offer(Object node, Object message, Deadline deadline) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(node, node);
    return null;
  }

  /**
   * Adds messages that no other message separates. Returns null if the messages were accepted,
   * otherwise the reason of the refusal.
   */
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var firstNode = new Envelope(messages.getFirst(), baggage);
    var lastNode = firstNode;
    for (var message : messages.subList(1, messages.size())) lastNode.next = lastNode = new Envelope(message, baggage);
    push(firstNode, lastNode);
    return null;
  }

  /** Adds the pill, or an empty envelope that wakes the actor, in any phase. */
  protected void push(Envelope envelope) {
    push(envelope, envelope);
  }

  /** Adds a message that is neither blocked nor dropped, even if the mailbox is full. */
  protected Reason addUnbounded(Envelope envelope) {
    return offer(envelope, envelope.message, Deadline.NONE);
  }

  /**
   * Adds linked nodes, and starts a drain if the actor was idle. If this method throws, no node was
   * added.
   */
  protected final void push(Object firstNode, Object lastNode) {
    boolean wasIdle = tail == null;
    var activation = wasIdle ? prepare(firstNode) : null; // before the swap, because it may throw
    VarHandle.releaseFence();
    Object previous = TAIL.getAndSet(this, lastNode);
    if (previous instanceof Envelope envelope) envelope.next = firstNode;
    else if (previous != null) ((RequestFuture<?>) previous).next = firstNode;
    try {
      if (previous == null) begin(wasIdle ? activation : prepare(firstNode), firstNode);
      else if (stranded != null) tryRescue();
    } catch (Throwable error) { // `begin` or `tryRescue` was not entered
      if (previous == null) {
        stranded = firstNode;
        if (withdraw(lastNode)) throw error;
      }
      rescueLater();
    }
  }

  /**
   * Withdraws the last node and gives up the stranded right to run, unless another node was added.
   * If the stack is too small for that, the right stays stranded. Returns whether the node was
   * withdrawn.
   */
  private boolean withdraw(Object lastNode) {
    Object right = takeStranded();
    boolean isIdle = false;
    try {
      return isIdle = right != null && TAIL.compareAndSet(this, lastNode, null);
    } finally {
      if (right != null && !isIdle) stranded = right;
    }
  }

  /** Takes the right to run if the actor is idle and its phase is OPEN. Returns whether it did. */
  protected boolean acquire(Object node) {
    return tail == null && phase == OPEN && TAIL.compareAndSet(this, null, node);
  }

  // ---- the queue, for the drain

  /**
   * Returns the next node. Returns null if this node is the last one; the drain may then release
   * the right to run.
   *
   * @param maySpin whether to wait briefly for a next node
   */
  protected Object next(Object node, boolean maySpin) {
    Object next = nextLink(node);
    if (next == null && maySpin) next = spinForNext(node);
    if (next == null && tail == node) return null;
    return next == null ? awaitNext(node) : unlink(node, next);
  }

  /**
   * Releases the right to run: sets the tail from this node, the last one, to null. Returns false
   * if a sender has added a node, or is about to link it.
   */
  protected boolean release(Object node) {
    return TAIL.compareAndSet(this, node, null);
  }

  /**
   * Waits until a sender that has swapped the tail also links its node. Between the two steps the
   * sender may lose its processor, in one measurement for 50 ms.
   */
  protected Object awaitNext(Object node) {
    boolean interrupted = false;
    Object next = nextLink(node);
    for (int tries = 0; next == null; tries++) {
      interrupted |= EngineThreads.pause(tries);
      VarHandle.acquireFence();
      next = nextLink(node);
    }
    if (interrupted) Thread.currentThread().interrupt();
    return unlink(node, next);
  }

  /**
   * Clears the link of a handled node, so that a dead node in the old generation does not keep
   * younger nodes in memory.
   */
  private static Object unlink(Object node, Object next) {
    VarHandle.acquireFence();
    if (node instanceof Envelope envelope) envelope.next = null;
    else((RequestFuture<?>) node).next = null;
    return next;
  }

  /**
   * Spins briefly for the next node: after many messages in a row another usually follows soon, and
   * starting a thread costs more than the spin.
   */
  private static Object spinForNext(Object node) {
    Object next = null;
    for (int checks = 0; next == null && checks < SPIN_CHECKS; checks++) {
      Thread.onSpinWait();
      VarHandle.acquireFence();
      next = nextLink(node);
    }
    return next;
  }

  protected static Object nextLink(Object node) {
    return node instanceof Envelope envelope ? envelope.next : ((RequestFuture<?>) node).next;
  }

  /**
   * Called by a drain on a fiber that has found no next node. If the drain has woken a sender that
   * waits for its carrier, lets the sender run first, and then returns the next node, or null.
   */
  protected Object nextOfWokenSender() {
    return null;
  }

  /** Called by the drain with the mean time of its last messages, in nanoseconds. */
  protected void recordMessageTime(long nanos) {}

  /** Returns whether the actor should run on the carrier of its senders. */
  protected boolean isNearSenders() {
    return false;
  }

  // ---- the queue, for observers

  /** Returns whether the drain has reached the pill, and the actor has not ended yet. */
  public final boolean hasReachedPill() {
    return phase == LEAVING;
  }

  public boolean isIdle() {
    return TAIL.getVolatile(this) == null;
  }

  /**
   * Returns whether no message waits, so that the drain could begin a new message soon. The drain
   * may be handling the last message. A mailbox of another kind returns false.
   */
  protected boolean hasEmptyQueue() {
    Object last = TAIL.getVolatile(this);
    return last == null || !holdsMessage(last);
  }

  /**
   * Counts the messages from this node on, up to {@code max}. May miss messages that senders are
   * adding.
   */
  protected int countQueued(Object node, int max) {
    int count = 0;
    for (; node != null && count < max; node = nextLink(node)) if (holdsMessage(node)) count++;
    return count;
  }

  /**
   * Returns whether at most {@code max} messages wait from this node on. Returns false also if the
   * drain removes the nodes while they are counted.
   */
  protected boolean hasAtMostQueued(Object node, int max) {
    int count = 0;
    Object lastCounted = null;
    for (; node != null && count <= max; node = nextLink(node)) {
      if (holdsMessage(node)) count++;
      lastCounted = node;
    }
    return count <= max && lastCounted == TAIL.getVolatile(this);
  }

  /**
   * Adds the first nodes with a message to {@code nodes}, up to {@code max}. Returns whether the
   * queue has no more nodes. Checks at most {@code 2 * max} nodes, because some messages may have
   * been withdrawn.
   */
  protected boolean addFirst(Object node, int max, List<Object> nodes) {
    for (int checks = 0; node != null && nodes.size() < max && checks < 2 * max; checks++, node = nextLink(node))
      if (holdsMessage(node)) nodes.add(node);
    return node == null;
  }

  /**
   * Returns the node of a message that waits, for {@link #isQueued}: the newest message if the last
   * node has it. If that node has the pill or its message was withdrawn, returns the newest message
   * among the first nodes from {@code node} on, which are few unless most were withdrawn. Returns
   * null if no message waits.
   */
  protected Object newestQueued(Object node) {
    Object last = TAIL.getVolatile(this);
    if (last == null || holdsMessage(last)) return last;
    Object newest = null;
    for (int checks = 0; node != null && (newest == null || checks < MAX_CHECKS); checks++, node = nextLink(node))
      if (holdsMessage(node)) newest = node;
    return newest;
  }

  /**
   * Returns the node of a waiting message that expires after the others, for {@link #isQueued}: the
   * newest that cannot expire, or else the request with the latest deadline. Begins with
   * {@code newest}, which {@link #newestQueued} returned. If that message may expire, searches the
   * first nodes from {@code node} on.
   */
  protected Object longestLasting(Object node, Object newest) {
    if (deadline(newest) == null) return newest;
    Object lasting = newest;
    for (int checks = 0; node != null && node != newest && checks < MAX_LASTING_CHECKS; checks++, node = nextLink(node))
      if (holdsMessage(node) && (deadline(node) == null || expiresLater(node, lasting))) lasting = node;
    return lasting;
  }

  /** Returns whether the second of two nodes or entries expires, and before the first. */
  protected static boolean expiresLater(Object first, Object second) {
    var firstDeadline = deadline(first);
    var secondDeadline = deadline(second);
    return secondDeadline != null && (firstDeadline == null || firstDeadline.isAfter(secondDeadline));
  }

  /** Returns the time at which a request expires while it waits, or null. */
  private static Deadline deadline(Object node) {
    Object item = node instanceof QueueEntry<?> entry ? entry.itemOrNull() : node;
    return item instanceof RequestFuture<?> request ? request.deadline : null;
  }

  /** Returns whether the message of this node has neither begun nor been withdrawn. */
  protected boolean isQueued(Object node) {
    return holdsMessage(node);
  }

  /** Returns the message of a node, or null if the message has begun or was withdrawn. */
  protected static Object message(Object node) {
    return node instanceof Envelope envelope ? envelope.message : ((RequestFuture<?>) node).message();
  }

  protected static boolean holdsMessage(Object node) {
    Object message = message(node);
    return message != null && message != EngineMessage.PILL;
  }

  protected void failRequests(Object node) {
    for (; node != null; node = nextLink(node)) if (node instanceof RequestFuture<?> request) request.failIfQueued();
  }

  // ---- a thread for the right to run

  /**
   * Makes the activation before a message is sent. Returns null if the resident thread will handle
   * the message. If this method throws, the message is not sent.
   */
  protected Object prepare(Object firstNode) {
    // probes now, so that a lack of stack fails the send: after the send, the right could be
    // stranded until the next message
    StackProbe.probeForActivation();
    return isResident() ? null : newActivation(firstNode, ActivationKind.NORMAL);
  }

  /**
   * Provides a thread for the right to run, with the prepared activation or a new one. The drain
   * starts at {@code firstNode}. If this method throws, no stack was left for the call.
   *
   * @param activation the result of {@link #prepare}, or null
   */
  protected void begin(Object activation, Object firstNode) {
    boolean usesPrepared = activation != null && !isDisposalOnly();
    if (usesPrepared) announce((Activation) activation);
    attemptStart(usesPrepared ? activation : firstNode, 0);
  }

  private Strategy strategy() {
    return behavior.settings.strategy();
  }

  /**
   * Returns whether the actor keeps its thread. Calls no method of the usual strategy, because in a
   * program with several strategies such a call is not inlined.
   */
  private boolean isResident() {
    var strategy = strategy();
    return strategy != Strategy.FIBER && strategy.isResident();
  }

  /** Calls {@code activate} of the strategy, or, for the usual strategy, does the same directly. */
  private void activate(Activation activation) {
    var strategy = strategy();
    if (strategy == Strategy.FIBER) EngineThreads.startDrain(activation);
    else strategy.activate(activation);
  }

  private Activation newActivation(Object node, ActivationKind kind) {
    return new Activation(cell(), node, kind);
  }

  /**
   * Returns whether another drain has handled the pill and runs the hooks, so that messages only
   * become dead letters.
   */
  private boolean isDisposalOnly() {
    return phase >= LEAVING && pillTaken && !hooksPending;
  }

  /**
   * Asks the {@link io.fibry.engine.jvm.StartRetrier} to start a drain if the right to run is
   * stranded. If the stack is too small even for this call, the next sender starts the drain.
   */
  public final void rescueLater() {
    try {
      EngineThreads.rescue(this);
    } catch (Throwable noStack) {}
  }

  /**
   * Takes the stranded right to run. Returns null if no right is stranded, or another thread took
   * it.
   */
  final Object takeStranded() {
    Object right = stranded;
    return right != null && STRANDED.compareAndSet(this, right, null) ? right : null;
  }

  /**
   * Starts a drain for a stranded right to run, unless another thread took it. Returns false if the
   * right is still stranded. Counts as the second try, so if it fails, too, a timer is set, even
   * after a StackOverflowError.
   */
  public boolean tryRescue() {
    return startStranded(1);
  }

  /** Makes the first try to start a drain for a right to run that was just stranded. */
  protected final void startStranded() {
    startStranded(0);
  }

  @Override
  public void rescue() {
    tryRescue();
  }

  private boolean startStranded(int tries) {
    return stranded == null || attemptStart(null, tries);
  }

  /**
   * Starts a drain for the right to run, which is an activation or a node. If {@code right} is
   * null, takes the stranded right, if there is one. Returns false if the right is stranded. Throws
   * nothing once entered.
   */
  final boolean attemptStart(Object right, int tries) {
    try {
      if (!(right instanceof Activation)) StackProbe.probe(); // `prepare` probed for an activation
      if (right == null && (right = takeStranded()) == null) return true;
      if (isDisposalOnly() && !(right instanceof Activation)) {
        right = newActivation(right, ActivationKind.DISPOSAL); // from here on the activation has the right
        ((Activation) right).run();
        return true;
      }
      right = activationFor(right);
      if (((Activation) right).kind == ActivationKind.RESIDENT) {
        // orders the write of `handedNode` before the read of `thread`; pairs with the fence in
        // Activation.runResident
        VarHandle.fullFence();
        LockSupport.unpark(((Activation) right).thread);
      } else if (tries > 0 && phase > OPEN) GuaranteedStart.start((Activation) right); // any fiber can end the actor
      else if (!tryHandOver((Activation) right)) activate((Activation) right);
      return true;
    } catch (Throwable failure) {
      if (right instanceof Activation activation && (right = activation.reclaimRight()) == null)
        return true; // a thread runs the activation, which has the right
      // the thread of a resident activation may already have taken the right, and stranded a node
      if (right instanceof Activation) STRANDED.compareAndSet(this, null, right);
      else if (right != null) stranded = right;
      return recover(failure, tries);
    }
  }

  private boolean tryHandOver(Activation wokenDrain) {
    return strategy() == Strategy.FIBER && Thread.currentThread().isVirtual()
        && WaitingHandler.current() instanceof Activation waker && waker.handOver(wokenDrain);
  }

  /**
   * Returns the activation that uses the right. A resident activation has the right as soon as
   * {@code handedNode} is written, so this is written last.
   */
  private Activation activationFor(Object right) {
    if (right instanceof Activation activation) return activation;
    if (!isResident()) {
      var activation = newActivation(right, ActivationKind.NORMAL);
      announce(activation);
      return activation;
    }
    var resident = activation();
    resident.handedNode = right;
    return resident;
  }

  /**
   * Called after a drain or its start has failed, and the right to run is stranded. Sets a timer
   * that tries again, or ends the actor if its executor was shut down. If the stack overflowed at
   * the first try, the {@link io.fibry.engine.jvm.StartRetrier} tries again instead, because
   * setting a timer also needs stack. A simulation always sets a timer, because the retrier's
   * thread is real. Returns false if the right is still stranded.
   */
  protected final boolean recover(Throwable failure, int tries) {
    if (failure instanceof StackOverflowError && tries == 0 && Environment.simulated == null) {
      rescueLater();
      return false;
    }
    Object right = null;
    try {
      right = takeStranded();
      if (right == null) return true;
      if (failure instanceof RejectedExecutionException && strategy().isShutDown()) {
        right = activationFor(right);
        cell().stopAccepting(new ExitReason.Failed(failure));
        GuaranteedStart.start((Activation) right);
      } else {
        owner().options().scheduler().schedule(Duration.ofMillis(1L << Math.min(10, tries)),
            new StartRetry(this, right, failure, tries + 1));
      }
      return true;
    } catch (Throwable error) {
      if (right instanceof Activation activation) right = activation.reclaimRight();
      if (right instanceof Activation) STRANDED.compareAndSet(this, null, right);
      else if (right != null) stranded = right;
      if (error instanceof VirtualMachineError) rescueLater(); // other errors come from a user's scheduler
      return false;
    }
  }

  /**
   * Starts a fiber that tries again to start a drain. Called on the scheduler's thread, which must
   * not run a strategy. The right stays stranded until the fiber has begun, because the JDK may
   * lose the fiber.
   */
  private void retry(Object right, Throwable failure, int tries) {
    stranded = right;
    try {
      EngineThreads.startFiber(new RescueTask(this, failure, tries));
    } catch (Throwable noThread) {
      recover(noThread, tries);
    }
  }

  private record StartRetry(PlainQueue queue, Object right, Throwable failure, int tries) implements Runnable {
    @Override
    public void run() {
      queue.retry(right, failure, tries);
    }
  }

  private record RescueTask(PlainQueue queue, Throwable failure, int tries) implements Runnable {
    @Override
    public void run() {
      // logs once, at the first try by a timer: try 1, or try 2 if the StartRetrier made try 1
      // after a StackOverflowError. If the two failures differ, it may log twice or not at all
      if (tries == 1 || tries == 2 && failure instanceof StackOverflowError)
        EngineLog.log().warn("actor '{}' got no thread from {}; trying again", queue.cell().name(), queue.strategy(),
            failure);
      queue.startStranded(tries);
    }
  }

  /**
   * Called when the limit of a request has passed. Starts an unclaimed drain again, because the JDK
   * loses fibers whose carrier has no memory. If the first fiber was not lost, only one of the two
   * fibers runs the drain.
   */
  public final void restartUnclaimed() {
    try {
      var drain = unclaimed();
      if (drain != null && strategy() == Strategy.FIBER) EngineThreads.startFiber(drain);
    } catch (Throwable noThread) {} // the next request whose limit passes tries again
  }

  /**
   * If the actor has an unclaimed drain and its executor was shut down, ends the actor, because the
   * executor may have dropped that drain. If the executor runs that drain later, the drain does
   * nothing.
   */
  public void failIfExecutorShutDown() {
    try {
      var drain = unclaimed();
      var strategy = strategy();
      if (drain == null || !strategy.isShutDown()) return;
      cell().stopAccepting(new ExitReason.Failed(new RejectedExecutionException(strategy + " was shut down")));
      GuaranteedStart.start(drain);
    } catch (Throwable error) {} // no stack, no memory, or an error of the executor: the next sender tries again
  }

  /**
   * Returns the drain that a strategy accepted and has not run, or null if there is none. Inline
   * drains do not count, because they need no claim.
   */
  private Activation unclaimed() {
    var current = activation();
    return current != null && current.kind == ActivationKind.NORMAL && !current.claimed ? current : null;
  }

  /**
   * Gives up the thread for {@code pause} ns, or until the actor must end. If this method throws,
   * the caller keeps the right to run.
   */
  final void suspend(Object node, long pause) {
    var recovery = cell().extras().recovery();
    var clock = owner().options().scheduler();
    // must come first: once `recovery` has the suspension, only the suspension has the right, so
    // the stack must not overflow
    StackProbe.probe();
    var suspension = new Recovery.Suspension(node);
    recovery.suspend(suspension);
    try {
      suspension.endBy(clock.schedule(Duration.ofNanos(pause),
          new SuspensionEnd(this, clock == Scheduler.system())));
    } catch (Throwable noTimer) { // no memory, or thrown by a user's scheduler
      if (recovery.resume() == null) return; // the thread that ends the actor took the right
      throw noTimer;
    }
    // the thread that ends the actor may have called `wake` before the suspension was set
    if (phase > OPEN || cell().publicCell().isEnding()) wake();
  }

  /** Ends a suspension and starts a drain, unless another thread has ended the suspension. */
  public final void wake() {
    var suspension = resume();
    if (suspension == null) return;
    stranded = suspension.node; // an assignment, so that no error loses the right
    startStranded();
    suspension.end();
  }

  private Recovery.Suspension resume() {
    var recovery = cell().recoveryOrNull();
    return recovery == null ? null : recovery.resume();
  }

  /**
   * Ends a suspension; called on the thread of a timer. {@code onFiber} is true if all actors share
   * that thread, which must not run a strategy.
   */
  private record SuspensionEnd(PlainQueue queue, boolean onFiber) implements Runnable {
    @Override
    public void run() {
      if (onFiber) queue.wakeOnFiber();
      else queue.wake();
    }
  }

  private void wakeOnFiber() {
    var suspension = resume();
    if (suspension != null) retry(suspension.node, null, 0);
  }

  /**
   * Makes the drain of a resident actor. Returns null if the actor's strategy is not resident.
   * Called before any other thread knows the actor.
   */
  public final Runnable prepareResident() {
    if (!strategy().isResident()) return null;
    var resident = newActivation(null, ActivationKind.RESIDENT);
    setDrain(resident);
    return resident;
  }

  /**
   * Starts the drain of a resident actor. If that fails, runs {@code undo}, ends the actor and
   * throws.
   */
  public final void startResident(Runnable resident, Runnable undo) {
    try {
      strategy().activate(resident);
    } catch (Throwable noThread) { // the actor may be known by name, and have messages
      undo.run();
      endNeverStarted(new ExitReason.Failed(noThread));
      cell().freeName();
      throw noThread;
    }
  }

  /**
   * Ends an actor that its scope refused, or whose start failed. The actor must end, because a
   * thread that closes the scope may already wait for its end.
   */
  public final void endNeverStarted(ExitReason reason) {
    cell().stopAccepting(reason);
    if (strategy().isResident()) GuaranteedStart.start(activation());
  }

  /**
   * Ends the actor on this thread, if it is idle and no user code runs at its end. Returns whether
   * it has ended.
   */
  public final boolean endIdle() {
    if (strategy().isResident() || !isIdle() || !cell().extras().hasNoEndWork()) return false;
    var pill = new Envelope(EngineMessage.PILL);
    var activation = newActivation(pill, ActivationKind.IDLE_END);
    StackProbe.probeForSend(); // first: once the right is taken, the end must complete
    return activation.runOnce() && activation.hooksBegun;
  }

  /**
   * Handles a request on the thread of its asker, and returns the answer. Returns null if the asker
   * must send the request instead. That is so if the actor is not idle or its strategy is not
   * FIBER, or if this thread is not virtual or runs too many nested requests.
   */
  protected final Object inline(Object message) {
    if (strategy() != Strategy.FIBER || !Thread.currentThread().isVirtual()) return null;
    var asker = (Activation) WaitingHandler.current();
    if (asker != null && asker.depth >= MAX_INLINE_DEPTH) return null;
    var request = new RequestFuture<>(cell(), message, null, true);
    var activation = newActivation(request, ActivationKind.INLINE);
    // null if the handler cannot read the deadline, because reading the clock costs a third of an
    // inline request
    var ownDeadline = behavior.usesContext() ? askDeadline(asker) : null;
    if (ownDeadline != null && ownDeadline.isZero()) return null; // the time of the asker is over: `ask` throws
    activation.setAsker(asker, ownDeadline);
    if (!activation.runOnce()) return null;
    if (activation.answer != null) return activation.answer;
    var deadline = request.isDone() ? Deadline.NONE : ownDeadline != null ? ownDeadline : askDeadline(asker);
    if (deadline.isBounded()) request.deadline = deadline;
    return request.await(message, deadline, asker);
  }

  private Deadline askDeadline(HandlerContext asker) {
    var options = owner().options();
    return Deadline.ofAsk(options.scheduler(), options.askLimit(), asker == null ? null : asker.answerDeadline());
  }
}
