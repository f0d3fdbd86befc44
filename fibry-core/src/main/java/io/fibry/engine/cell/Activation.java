package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.engine.jvm.AskChainLocals;
import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.HandOver;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.jvm.TimeSlice;
import io.fibry.engine.jvm.WokenDrain;
import io.fibry.engine.message.AnswerType;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.spi.MultiStepMessage;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The right to run an actor, together with the drain: the loop that handles its messages. It
 * delivers each message to the handler, retries the message after a failure, and prepares its
 * redelivery.
 *
 * <p><b>States of a normal activation.</b> The thread that takes the right to run makes the
 * activation and passes it to the strategy. If the strategy throws, {@link PlainQueue} makes
 * another attempt. The first thread whose compare-and-set of {@code claimed} succeeds runs the
 * activation; all other runs do nothing. The activation then has the right to run until it does one
 * of four things:
 *
 * <ul>
 * <li>it releases the right after the last node ({@code next}), so that the actor is idle;
 * <li>it passes the right and the next node to another activation, so that the strategy can run
 * other actors first ({@code giveWay});
 * <li>it stores the right for a backoff ({@code suspend}), and a timer starts the next activation;
 * <li>it stores the right in {@code cell.stranded} after an error outside of a handler, and
 * {@code cell.recover} starts another activation. A message that had begun is not begun again: its
 * envelope is empty, and its request is failed.
 * </ul>
 *
 * <p><b>Kinds.</b> A resident activation keeps its thread, and gets the right to run through {@code
 * handedNode}. An inline activation handles one request on the thread of its asker. A disposal only
 * makes dead letters, and an idle end only ends the actor. An inline activation and an idle end
 * take the right directly from the queue ({@code acquire}). A normal activation runs once, on a
 * thread of the strategy.
 *
 * <p><b>Killers.</b> A killer writes the phase and then reads {@code thread}; the drain writes
 * {@code thread} and then reads the phase, with a full fence between. So if an actor is killed
 * while its drain starts, the killer interrupts the thread or the drain begins no message, or both.
 * Before the thread runs another actor, {@code leaveThread} waits for a killer that is about to
 * interrupt the thread.
 *
 * <p><b>Owner.</b> Fields belong to the thread of the activation, except where a field says
 * otherwise.
 */
final class Activation extends HandlerContext implements WokenDrain {
  enum ActivationKind {
    NORMAL,
    RESIDENT,
    INLINE, // on the asker's thread, for one request
    DISPOSAL, // on any thread, for an actor that runs no more code of a user
    IDLE_END // on the thread that ends an idle actor
  }

  /** The messages that a drain handles before it gives way to other actors. */
  private static final class MessageBatch extends TimeSlice {
    int credit = MAX_BATCH; // messages left
  }

  private static final int MIN_STREAK = 16; // messages in a row before the drain spins for the next one
  private static final int MAX_BATCH = 256; // messages before the drain gives way to other actors
  // The max number of wake-ups by actors with the waker's behavior that start a fiber at once,
  // after a woken drain had to wait too long in a slot
  private static final int LATE_PENALTY = 1_000;
  private static final VarHandle CLAIMED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "claimed",
      VarHandle.class, Activation.class, boolean.class);

  final ActivationKind kind;
  private Object node; // the node of the current message, or the next node; null without the right to run
  Object answer; // inline requests only; null if the answer is in the request
  private final boolean ownsThread; // whether this activation may name and interrupt its thread
  int depth; // number of inline requests that enclose this activation on the same thread
  // Resident activations only: the node at which to continue. Set by the thread that has the
  // right to run, cleared by the resident thread
  volatile Object handedNode;
  // false -> true, by the thread that will run this activation, or that takes the right back after
  // a failed start
  volatile boolean claimed;
  private boolean mustRunHooks; // this drain took the pill, or a failed drain did
  boolean hooksBegun; // the drain is about to call Cell.finish, or has ended an idle actor
  private long lastPark; // nanoTime of the last park in yieldToOthers; 0 at first
  private boolean canHandOver; // whether the thread can run a woken actor after this drain
  // The actor whose handler woke this actor. Set before this drain is placed in a slot, cleared
  // when the drain runs; observers may see either value
  Cell waker;

  Activation(Cell cell, Object firstNode, ActivationKind kind) {
    super(cell);
    this.node = firstNode;
    this.kind = kind;
    this.ownsThread = kind.compareTo(ActivationKind.RESIDENT) <= 0 && cell.settings().ownsThreads();
  }

  @Override
  public boolean ownsThread() {
    return ownsThread;
  }

  /** Returns whether the handler runs on the thread of its asker. */
  private boolean isInline() {
    return kind == ActivationKind.INLINE;
  }

  @Override
  Object currentNode() {
    Object ownNode = node;
    return ownNode != null ? ownNode : handedNode;
  }

  @Override
  public void run() {
    if (kind == ActivationKind.RESIDENT) runResident();
    else if (runOnce() && canHandOver) HandOver.runWoken(this);
  }

  private boolean tryClaim() {
    return CLAIMED.compareAndSet(this, false, true);
  }

  /**
   * Called after the start of this activation failed. Returns the right to run: this activation if
   * it is resident, otherwise the node for a new activation. Returns null if a thread has claimed
   * this activation.
   */
  Object reclaimRight() {
    if (kind == ActivationKind.RESIDENT) return this;
    return tryClaim() ? node : null;
  }

  /**
   * Takes the right to run, and works until the right is given away. Returns false if there is no
   * right to take. The work may throw for lack of stack or memory, or because of user code outside
   * of a handler. This method then strands the right, so that no error loses it.
   */
  @Override
  public boolean runOnce() {
    if (!takeRight()) return false;
    try {
      if (kind == ActivationKind.RESIDENT) drain();
      else if (kind == ActivationKind.IDLE_END) endIdle();
      else {
        waker = null;
        var ownThread = thread = Thread.currentThread();
        canHandOver =
            kind == ActivationKind.NORMAL && ownThread.isVirtual() && cell.settings().strategy() == Strategy.FIBER;
        if (kind == ActivationKind.DISPOSAL) drain();
        else if (isInline()) handleInline();
        else if (ownsThread) { // no helper method: a fiber that sleeps in its handler keeps all frames in memory
          enterThread();
          drain();
        } else workNested();
      }
    } catch (Throwable error) { // assignments first: without stack or memory a call could fail
      cell.hooksPending |= mustRunHooks && node != null;
      mustRunHooks = false;
      if (node != null) cell.stranded = node;
      node = null;
      if (kind != ActivationKind.RESIDENT) thread = null;
      cell.recover(error, 0);
      settleAccounts();
    }
    return true;
  }

  private boolean takeRight() {
    if (kind == ActivationKind.INLINE || kind == ActivationKind.IDLE_END) return cell.acquire(node);
    if (kind != ActivationKind.RESIDENT) return tryClaim();
    Object newNode = handedNode;
    if (newNode == null) return false;
    handedNode = null;
    node = newNode;
    return true;
  }

  /**
   * Detaches this activation from its thread, and waits for a killer that may be about to interrupt
   * the thread. A killer writes the phase, and then reads and interrupts {@code thread} under the
   * monitor of the extras.
   */
  @Override
  public void leaveThread() {
    thread = null;
    VarHandle.fullFence(); // `thread` is written, the phase not yet read
    if (cell.isEnding()) synchronized (cell.extras()) {}
    Thread.interrupted();
  }

  @Override
  public void forgetHandler() {
    makeCurrent(null);
  }

  @Override
  public boolean hasSpinningAsker() {
    return node instanceof RequestFuture<?> request && request.hasSpinningAsker();
  }

  @Override
  public boolean hasAskerOffCarriers() {
    return node == Envelope.NOTHING_OF_ASKER_OFF_CARRIERS
        || node instanceof RequestFuture<?> request && request.hasAskerOffCarriers();
  }

  @Override
  public boolean isNear() {
    return cell.isNearSenders();
  }

  @Override
  public void penalizeWaker() {
    var lateWaker = waker;
    if (lateWaker != null) lateWaker.behavior.wakeUpsWithoutHandOver = LATE_PENALTY;
  }

  /**
   * Places the drain of the woken actor in the slot of this fiber. Returns false if the caller must
   * start that drain.
   */
  boolean handOver(Activation wokenDrain) {
    if (!canHandOver) return false;
    var behavior = cell.behavior;
    if (behavior.wakeUpsWithoutHandOver > 0) {
      behavior.wakeUpsWithoutHandOver--;
      return false;
    }
    wokenDrain.waker = cell;
    return mayHoldHandOver = HandOver.offer(wokenDrain);
  }

  /** Called before the drain of an activation that does not keep its thread. */
  private void enterThread() {
    nameThread();
    EngineThreads.startPendingTask();
    VarHandle.fullFence(); // `thread` is written, the phase not yet read
  }

  private void nameThread() {
    makeCurrent(this);
    if (ownsThread && cell.label() != null) thread.setName(cell.label());
  }

  /**
   * Works on a thread that may be running the handler of another actor. Makes that handler current
   * again at the end.
   */
  private void workNested() {
    outer = current();
    try {
      enterThread();
      drain();
    } finally { // no helper method: its calls could need more stack than the start of `enterThread`
      makeCurrent(outer);
      outer = null;
    }
  }

  /**
   * Handles the messages of an actor that keeps its thread. The thread stays if memory is
   * exhausted, because no other thread could run the actor.
   */
  private void runResident() {
    if (!tryClaim()) return;
    outer = ownsThread ? null : current();
    thread = Thread.currentThread();
    boolean isEntered = false;
    try {
      while (!hooksBegun) try {
        if (!isEntered) {
          nameThread();
          VarHandle.fullFence(); // pairs with PlainQueue.attemptStart, which writes `handedNode`, then reads `thread`
          isEntered = true;
        }
        if (runOnce()) continue;
        LockSupport.park(this);
        Thread.interrupted();
      } catch (OutOfMemoryError noMemory) { // from a park of a fiber, or while the right is stranded
        cell.rescueLater();
      }
    } finally {
      thread = null;
      if (!ownsThread) {
        makeCurrent(outer);
        outer = null;
      }
    }
  }

  /** Sets the asker of an inline activation. Called before the activation runs. */
  void setAsker(Activation asker, Deadline ownDeadline) {
    outer = asker;
    if (asker != null) depth = asker.depth + 1;
    deadline = ownDeadline != null || asker == null ? ownDeadline : asker.answerDeadline();
  }

  /**
   * Handles one request on the thread of its asker. No other thread has seen the request or can run
   * this actor. So the request is not claimed, and the answer bypasses the future.
   */
  private void handleInline() {
    var inlineRequest = (RequestFuture<?>) node;
    try {
      makeCurrent(this);
      cell.announce(this);
      Object newMessage = inlineRequest.beginUnseen();
      long decision = FailureHandler.CONTINUE;
      if (cell.isEnding()) cell.failUndelivered(newMessage, inlineRequest);
      else decision = deliver(newMessage, inlineRequest);
      if (FailureHandler.pause(decision) > 0) {
        suspend(decision);
        return;
      }
      if (decision == FailureHandler.CONTINUE) node = next(null);
      if (node != null) giveWay();
    } finally {
      makeCurrent(outer);
      outer = null;
    }
  }

  /**
   * Ends an idle actor with the pill of this activation. A drain of the strategy must end the
   * actor instead if user code runs at its end, or a sender has added a message.
   */
  private void endIdle() {
    boolean hasNoHook = !cell.behavior.hasStopHook(cell);
    if (hasNoHook) {
      handle(node, Cell.OPEN);
      mustRunHooks = false;
      cell.hooksPending = true; // before the release: the drain of a later message may have to run the hooks
      node = next(null);
    }
    if (node != null) handBack();
    else if (cell.finishWithoutWork()) hooksBegun = true;
    else cell.push(new Envelope(null)); // end work, such as a resource, was added: a drain ends the actor
  }

  // The handler runs under the frames of runOnce, drain, handle and deliverInContext, and a fiber
  // that sleeps in its handler keeps them in memory. The JVM's first compiler (C1) gives each
  // spilled value a slot of its own, also the values of the methods that it inlines. So these
  // methods leave other work to methods that are too large for C1 to inline.

  private void drain() {
    mustRunHooks |= cell.takePendingHooks();
    MessageBatch batch = null; // null until there is a second message: a sleeping handler keeps this object in memory
    do {
      byte phase = cell.phase;
      long decision = phase >= Cell.OPEN ? FailureHandler.CONTINUE : restart();
      if (decision == FailureHandler.CONTINUE) decision = handle(node, phase);
      batch = afterMessage(decision, batch);
    } while (batch != null);
  }

  /** Prepares the next message. Returns the batch of this drain, or null if the drain is over. */
  private MessageBatch afterMessage(long decision, MessageBatch oldBatch) {
    var batch = oldBatch;
    if (decision != FailureHandler.CONTINUE) {
      if (FailureHandler.pause(decision) == 0) return batch != null ? batch : new MessageBatch(); // redelivers it now
      suspend(decision);
      return null;
    }
    node = next(batch);
    if (node == null) {
      if (mustRunHooks) runHooks();
      return null;
    }
    if (mayHoldHandOver) startHandedOver();
    if (batch == null) batch = new MessageBatch();
    if (batch.credit == 0) {
      if (giveWay()) return null;
      settleAccounts();
      batch.credit = MAX_BATCH;
      batch.restart();
    } else if (!mustRunHooks && batch.isOver()) batch.credit = 1;
    long messageNanos = batch.takeStepNanos();
    if (messageNanos > 0) cell.recordMessageTime(messageNanos);
    batch.credit--;
    return batch;
  }

  private void runHooks() {
    mustRunHooks = false;
    hooksBegun = true;
    cell.finish(this);
  }

  /**
   * Returns the next node. Returns null if no message waits, and the right to run has been
   * released.
   *
   * @param batch the batch of this drain, or null after its first message
   */
  private Object next(MessageBatch batch) {
    Object next = cell.next(node, unsettledCount >= MIN_STREAK);
    if (next == null && batch != null && ownsThread && !mustRunHooks && thread.isVirtual()) {
      next = cell.nextOfWokenSender();
      if (next != null) batch.restart(); // the sender has run meanwhile
    }
    if (next != null) return next;
    pauseWork();
    if (cell.release(node)) return null;
    // undoes pauseWork, because a sender has added a node
    if (kind == ActivationKind.NORMAL || kind == ActivationKind.INLINE) cell.setDrain(this);
    return cell.awaitNext(node);
  }

  /**
   * Restarts this actor if another actor's failure requested the restart. Returns a decision of
   * {@link FailureHandler}: to continue, or to suspend the actor and then handle the node.
   */
  private long restart() {
    if (!cell.takeRestartRequest()) return FailureHandler.CONTINUE;
    if (!cell.extras().stash.isEmpty() && PlainQueue.holdsMessage(node)) { // stashed messages come first
      cell.putBack(List.of(node));
      node = Envelope.NOTHING;
    }
    long pause = cell.extras().recovery().requestedPause;
    FailureHandler.restart(this, null, pause);
    if (ownsThread) Thread.interrupted(); // the stop hook may have set the interrupt flag
    return pause > 0 ? FailureHandler.redeliverAfter(pause) : FailureHandler.CONTINUE;
  }

  private void suspend(long decision) {
    node = cell.beforeSuspension(node, !FailureHandler.isRedelivery(decision));
    pauseWork();
    cell.suspend(node, FailureHandler.pause(decision));
    node = null;
  }

  /** Lets other actors run, and returns whether another activation continues this actor. */
  private boolean giveWay() {
    if (kind == ActivationKind.DISPOSAL || mustRunHooks) return false;
    if (ownsThread ? !EngineThreads.isVirtualThreadOffCarriers() : cell.settings().strategy() == Strategy.CALLER) {
      if (ownsThread && thread.isVirtual()) lastPark = EngineThreads.yieldToOthers(lastPark, isNear());
      return false;
    }
    pauseWork();
    handBack();
    return true;
  }

  /** Passes the right to run to another activation. */
  private void handBack() {
    StackProbe.probe(); // overflows, if at all, before `node` is cleared: afterwards only attemptStart knows the right
    Object right = node;
    node = null;
    cell.attemptStart(right, 0);
  }

  /**
   * Settles the accounts and detaches this activation from the actor. Called before the right to
   * run is given away, so that an idle actor does not keep this activation in memory.
   */
  private void pauseWork() {
    if (unsettledCount > 0) settleAccounts();
    else cell.owner().accounts().countPass();
    if (kind == ActivationKind.NORMAL || kind == ActivationKind.INLINE) cell.setDrain(null);
  }

  /** Handles a node, and returns a decision of {@link FailureHandler}. */
  private long handle(Object node, byte phase) {
    var newRequest = node instanceof RequestFuture<?> requestNode ? requestNode : null;
    var newBaggage = newRequest != null ? newRequest.baggage : ((Envelope) node).baggage;
    Object newMessage = takeMessage(node);
    if (newMessage == null) return FailureHandler.CONTINUE;
    boolean isOrdinary = newBaggage == null && phase <= Cell.OPEN && newMessage != EngineMessage.PILL
        && !JfrEvents.isRecordingMessages();
    return isOrdinary ? deliverInContext(newMessage, newRequest, null)
        : handleSpecial(newMessage, newRequest, newBaggage, phase);
  }

  /** Handles the pill, a message of an ending actor, or a message with baggage or a recording. */
  private long handleSpecial(Object newMessage, RequestFuture<?> newRequest, Baggage newBaggage, byte phase) {
    if (newMessage == EngineMessage.PILL) takePill();
    else if (phase > Cell.OPEN) cell.failUndelivered(newMessage, newRequest);
    else return deliverRecorded(newMessage, newRequest, newBaggage);
    return FailureHandler.CONTINUE;
  }

  /**
   * Takes the message out of its node. Returns null if the node is a wake-up, if an earlier
   * activation took its message and failed, or if its asker no longer waits.
   */
  private Object takeMessage(Object node) {
    if (node instanceof Envelope envelope) {
      Object newMessage = envelope.message;
      if (newMessage != null) envelope.message = null;
      return newMessage;
    }
    var newRequest = (RequestFuture<?>) node;
    Object newMessage = newRequest.begin();
    if (newMessage == null && newRequest.isUnanswered()) cell.failOutOfMemory(newRequest);
    return newMessage;
  }

  private void takePill() {
    if (cell.pillTaken || !cell.isReadyToEnd()) return;
    cell.pillTaken = true;
    mustRunHooks = true;
    cell.extras().setReason(new ExitReason.Finished());
    cell.setLeaving();
  }

  // ---- one message

  /** Delivers an inline request, and returns a decision of {@link FailureHandler}. */
  private long deliver(Object newMessage, RequestFuture<?> inlineRequest) {
    return JfrEvents.isRecordingMessages() ? deliverRecorded(newMessage, inlineRequest, null)
        : deliverInContext(newMessage, inlineRequest, null);
  }

  /**
   * Delivers a message with its baggage, and records an event of the flight recorder. The recorded
   * time includes making the state and handling a failure.
   */
  private long deliverRecorded(Object newMessage, RequestFuture<?> newRequest, Baggage newBaggage) {
    var propagators = cell.settings().contextPropagators();
    var closeables = newBaggage == null ? null : newBaggage.newCloseables();
    startedAt = 0;
    message = newMessage; // set before the propagators run, so that a killer sees the message
    request = newRequest;
    baggage = newBaggage;
    boolean hasAskers = newBaggage != null && !newBaggage.askers.isEmpty();
    var outerAskers = hasAskers ? AskChainLocals.beginHandling(newBaggage.askers) : null;
    try {
      if (closeables != null) restoreBaggage(closeables);
      // the client of a connection decides how long its handling takes, so it is not recorded
      Object event = newMessage instanceof MultiStepMessage ? null
          : JfrEvents.begin(isInline() ? 0 : newBaggage == null ? JfrEvents.UNKNOWN : newBaggage.waitedNanos());
      long decision = deliverInContext(newMessage, newRequest, closeables);
      if (event != null) JfrEvents.end(event, cell, newMessage);
      return decision;
    } finally {
      baggage = null;
      if (hasAskers) AskChainLocals.endHandling(outerAskers);
      if (closeables != null) Baggage.close(propagators, publicActor(), closeables);
      if (ownsThread()) Thread.interrupted();
    }
  }

  private void restoreBaggage(AutoCloseable[] closeables) {
    try {
      baggage.restore(cell.settings().contextPropagators(), publicActor(), EngineMessage.unwrap(message), closeables,
          false);
    } catch (Throwable error) { // no stack: the message is handled, perhaps without its context
    }
  }

  private Actor<?> publicActor() {
    return (Actor<?>) cell.publicCell();
  }

  /**
   * Handles a message. The stack of a handler is cut at this method, which
   * {@link io.fibry.engine.jvm.StackTraces#isDelivery} knows by its name.
   *
   * @param restored the resources of the context propagators; null if there are none
   */
  private long deliverInContext(Object newMessage, RequestFuture<?> newRequest, AutoCloseable[] restored) {
    startedAt = 0; // before the message is set, because an observer must not pair the new message with the old time
    message = newMessage;
    request = newRequest;
    try {
      if (!isInline()) startedAt = CoarseClock.systemTime(); // the clock costs a tenth of an inline request
      if (newMessage instanceof EngineMessage task) task.task().run();
      else answer(cell.behavior.handle(this, newMessage));
      if (!stashed) countOutcome(newMessage, false);
      return FailureHandler.CONTINUE;
    } catch (Throwable failure) {
      return fail(failure, newMessage, restored);
    } finally {
      if (receivedRequests != null) failReceivedRequests(null);
      message = null;
      request = null;
      stashed = false;
      if (alreadyCounted) resumeCounting();
      if (ownsThread()) Thread.interrupted(); // clears an interrupt that was meant for this message
    }
  }

  /** Retries a message, as {@link #deliverInContext} delivers it for the first time. */
  private void attempt(Object currentMessage) throws Exception {
    if (currentMessage instanceof EngineMessage task) task.task().run();
    else answer(cell.behavior.handle(this, currentMessage));
    if (!stashed) countOutcome(currentMessage, false);
  }

  /**
   * Handles the message again if the policy permits a retry. Otherwise applies the policy, and
   * returns its decision.
   */
  private long fail(Throwable failure, Object currentMessage, AutoCloseable[] restored) {
    for (int tries = 0;; tries++) {
      var requestException = RequestFailures.requestExceptionIn(failure);
      if (requestException != null) withdrawRefused(requestException);
      var policy = FailureHandler.policy(cell, failure);
      if (ownsThread()) Thread.interrupted(); // before the phase is read: a killer writes the phase, then interrupts
      if (tries >= policy.retries() || !isRepeatable(currentMessage)) {
        long decision = FailureHandler.handle(this, failure, policy);
        if (restored != null) notifyPropagators(restored, failure);
        return decision;
      }
      if (receivedRequests != null) failReceivedRequests(failure);
      try {
        attempt(currentMessage);
        return FailureHandler.CONTINUE;
      } catch (Throwable nextFailure) {
        failure = nextFailure;
      }
    }
  }

  private void notifyPropagators(AutoCloseable[] restored, Throwable failure) {
    try {
      Baggage.fail(cell.settings().contextPropagators(), publicActor(), restored, failure);
    } catch (Throwable error) { // no memory for the log line: the decision about the failure must not be lost
    }
  }

  /**
   * Puts the message back into its node, to be handled again. Returns how often the message has
   * been redelivered, including this time, or 0 if the message is not redelivered.
   *
   * @param max the number of redeliveries that the policy permits
   */
  int redeliver(int max) {
    int times = isRepeatable(message) ? cell.extras().recovery().countRedelivery(node, max) : 0;
    if (times == 0) return 0;
    stopCounting();
    if (node instanceof Envelope envelope) envelope.message = message; // the envelope still has its baggage
    else if (!request.stash(message, baggage)) return 0; // the request is settled: its asker no longer waits
    firstSeen = null; // the message will begin again
    if (cell.isSelective() && !cell.extras().stash.isEmpty()) { // stashed messages come first
      cell.putBack(List.of(node));
      node = Envelope.NOTHING;
    }
    return times;
  }

  private boolean isRepeatable(Object currentMessage) {
    return !(currentMessage instanceof EngineMessage) && !stashed && !cell.isEnding()
        && (request == null || request.isUnanswered() && !request.isDone());
  }

  private void answer(Object value) {
    if (request == null || stashed || !request.isUnanswered()) return;
    if (value == ActorBehavior.NO_ANSWER) fail(request, message, RequestFailures.noReply(cell, message));
    else if (value == null) throw new NullPointerException(
        "actor '" + cell.name() + "' answered null to " + cell.describe(message)
            + "; let it answer an Optional, or Done");
    else if (isInline()) answer = value;
    else if (request.hasDeclaredType && !AnswerType.of(message).isInstance(value))
      fail(request, message, AnswerType.wrongAnswerException(cell, message, value));
    else request.finish(value);
  }
}
