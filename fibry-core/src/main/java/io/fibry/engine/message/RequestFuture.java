package io.fibry.engine.message;

import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.RequestOutcome;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.Rescuable;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.queue.AnswerSpin;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.spi.AnswerObserver;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * A request: the node of a message in the mailbox, and the future of its asker, in one object of 56
 * bytes.
 *
 * <p><b>States.</b> One byte has flags that are set by compare-and-set. BEGUN: a drain handles the
 * request, and only a stash clears the flag. SETTLED: the request has a result, or was withdrawn.
 * CHAINED: a user has chained code to the future. CALLBACKS_RUN: a thread that chains code need not
 * wait. A drain sets this flag after it has run the callbacks. A cancel, a limit or a completion
 * from outside sets it together with SETTLED, because its thread is permitted to run callbacks.
 *
 * <p><b>BEGUN against SETTLED</b> decides whether the request is handled. A drain sets BEGUN when
 * it takes the request; a cancel, a limit, or a completion from outside sets SETTLED. The first of
 * the two wins, and a withdrawn request frees its capacity in the mailbox.
 *
 * <p><b>CHAINED against SETTLED</b> decides which thread runs the callbacks. The actor's thread
 * must not run them, unless no fiber can be started. A drain sets SETTLED. If CHAINED was set
 * before, another thread completes the future; otherwise the drain does. Last, the drain sets
 * CALLBACKS_RUN. A thread that chains code after SETTLED first waits for CALLBACKS_RUN (0.1 s at
 * most), so that the drain does not find the code. The thread then runs the code itself.
 *
 * <p><b>The waiter.</b> The first virtual thread that waits for the result stores itself in {@code
 * waiter}, and then reads the result. A thread that completes the future sets the result, and then
 * reads {@code waiter}. Both writes are compare-and-sets, so at least one of the two threads sees
 * the write of the other, and no wake-up is lost. A late unpark may reach a thread that waits no
 * longer, as with any {@code CompletableFuture}. Other threads wait as the JDK lets them: a second
 * waiter, a platform thread, which a {@code ForkJoinPool} may have to replace, and a thread that
 * waits with a limit. So does a thread that finds chained code, because the JDK wakes it before it
 * runs that code. In {@code ask}, a thread may spin first ({@link AnswerSpin}), and then waits as
 * without the spin.
 *
 * <p><b>Failure.</b> If the drain has no stack or memory left to complete the future, it clears
 * SETTLED again and throws. A method higher up in the drain's call chain, which has more stack,
 * then fails the request.
 *
 * <p><b>Refused designs.</b> A future separate from the node in the mailbox: it takes 24 bytes
 * more, and has two states that must agree. Always completing on another thread: twice the cost of
 * a request.
 */
public sealed class RequestFuture<R> extends AnswerFuture<R> implements AnswerLimit.ExpiringAnswer<R>, Wait.Awaitable
    permits EncodedRequest, RequestFuture.Observed {
  // 0 -> BEGUN -> BEGUN|SETTLED, or 0 -> SETTLED; BEGUN -> 0 when stashed. CHAINED may be added
  // until SETTLED. CALLBACKS_RUN is set together with SETTLED, or later by `settle`
  private static final byte BEGUN = 1;
  private static final byte SETTLED = 2;
  private static final byte CHAINED = 4;
  private static final byte CALLBACKS_RUN = 8; // a thread that chains code need not wait
  // values of `asker`
  private static final byte HAS_FUTURE = 0;
  private static final byte PARKS = 1;
  private static final byte SPINS = 2;
  private static final byte PARKS_OFF_CARRIERS = 3;
  private static final VarHandle STATE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state",
      VarHandle.class, RequestFuture.class, byte.class);
  private static final VarHandle WAITER = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "waiter",
      VarHandle.class, RequestFuture.class, Thread.class);

  public final Recipient recipient;
  public Object next; // an Envelope or a RequestFuture; set once by the next sender, cleared by the drain
  // null outside of guarded queues; written by the asker before the offer, then by the drain and by
  // threads that drop or withdraw the request
  public QueueEntry<Object> entry;
  // null without a limit, or if the request was settled before it began; written by the writers of
  // `messageOrSettler`
  public Deadline deadline;
  // The message; null once the request has begun or was settled. While `settle` completes the
  // future on its own thread, the field holds that thread. Written by the asker before the offer,
  // then by the thread that changed `state`
  private Object messageOrSettler;
  // null if there is none, or once the request has begun or was settled; written by the writers of
  // `messageOrSettler`
  public Baggage baggage;
  private volatile byte state;
  // the virtual thread that waits in `parkCheaply`, or null; written by that thread, read by the
  // thread that completes the future
  private volatile Thread waiter;
  // the element of this request in its actor's list of promises, or null. Guarded by the monitor of
  // the actor's extras
  public Object promise;
  // whether the handler has answered, or promised an answer; written by the drain, read by all
  public boolean isAnswered;
  // whether the asker expects an answer of the type that the request declares; written before the
  // offer
  public boolean hasDeclaredType;
  // whether `ask` made the request; if so, whether its thread spins before it parks, and then wakes
  // a carrier if none has taken the request, or whether it is a virtual thread that no carrier of
  // ours runs. One byte, because a field more would make the request 8 bytes larger. No user sees
  // the future of an `ask`, and after a failure its value is a FailedResult. Written before the
  // offer
  private byte asker;

  RequestFuture(Recipient recipient, Object message, Baggage baggage) {
    this(recipient, message, baggage, false);
  }

  public RequestFuture(Recipient recipient, Object message, Baggage baggage, boolean isBlocking) {
    this.asker = isBlocking ? PARKS : HAS_FUTURE;
    this.recipient = recipient;
    this.messageOrSettler = message;
    this.baggage = baggage;
  }

  private boolean isBlocking() {
    return asker != HAS_FUTURE;
  }

  /** Called by {@code ask} before the offer. */
  public void letAskerSpin() {
    asker = SPINS;
  }

  public boolean hasSpinningAsker() {
    return asker == SPINS;
  }

  /** Called by {@code ask} before the offer, on a virtual thread that no carrier of ours runs. */
  public void setAskerOffCarriers() {
    asker = PARKS_OFF_CARRIERS;
  }

  public boolean hasAskerOffCarriers() {
    return asker == PARKS_OFF_CARRIERS;
  }

  public Object message() {
    return messageOrSettler;
  }

  // ---- the drain's side

  /**
   * Claims the request for the drain, and returns its message. Returns null if the request was
   * cancelled, or has begun before.
   */
  public Object begin() {
    if (!STATE.compareAndSet(this, (byte) 0, BEGUN) && !STATE.compareAndSet(this, CHAINED, (byte) (CHAINED | BEGUN)))
      return (state & (BEGUN | SETTLED)) == 0 ? begin() : null; // `onChain` may have changed the state in between
    Object begunMessage = messageOrSettler;
    messageOrSettler = null;
    if (baggage != null) baggage = null;
    return begunMessage;
  }

  /**
   * Begins a request that no other thread has seen, without a compare-and-set. Returns its message.
   */
  public Object beginUnseen() {
    STATE.set(this, BEGUN);
    Object begunMessage = messageOrSettler;
    messageOrSettler = null;
    return begunMessage;
  }

  /** Returns whether the request has begun, and is neither answered nor promised. */
  public boolean isUnanswered() {
    return (state & (BEGUN | SETTLED)) == BEGUN && !isAnswered;
  }

  public boolean isBegun() {
    return (state & BEGUN) != 0;
  }

  /**
   * Records that the handler has answered, or has promised an answer. Returns false if that was
   * recorded before.
   */
  public boolean markAnswered() {
    if (isAnswered) return false;
    return isAnswered = true;
  }

  /**
   * Called after the promise was added to the actor. Removes the promise if the asker has already
   * stopped waiting. The drain writes {@code isAnswered} and then reads SETTLED; the asker sets
   * SETTLED and then reads {@code isAnswered}. So at least one of the two threads sees the write of
   * the other.
   */
  public void removePromiseIfSettled() {
    VarHandle.fullFence(); // `isAnswered` is written, SETTLED not yet read
    if ((state & SETTLED) != 0) recipient.removePromise(this, true);
  }

  /**
   * Called when the handler stashes the request. Stores the message and the baggage again, and
   * clears BEGUN. Returns false if the request has been settled.
   */
  public boolean stash(Object stashedMessage, Baggage stashedBaggage) {
    baggage = stashedBaggage;
    messageOrSettler = stashedMessage;
    for (byte s = state; (s & SETTLED) == 0; s = state)
      if (STATE.compareAndSet(this, s, (byte) (s & ~BEGUN))) return true;
    messageOrSettler = null;
    baggage = null;
    return false;
  }

  public void finish(Object value) {
    settle(value, null, false);
  }

  public void fail(Throwable failure) {
    settle(null, failure, false);
  }

  /**
   * Completes a promised request. The calling thread runs no code of the asker if a fiber can be
   * started for it.
   */
  public void fulfill(Object value, Throwable failure) {
    settle(value, failure, !isBlocking());
  }

  @SuppressWarnings("unchecked") // `ask` and `reply` check the type
  private void settle(Object value, Throwable failure, boolean needsOtherThread) {
    byte stateBefore = trySettle(SETTLED);
    if ((stateBefore & SETTLED) != 0) return;
    try {
      messageOrSettler = null;
      boolean needsFiber = needsOtherThread || (stateBefore & CHAINED) != 0;
      // without a fiber, this thread completes the future
      if (!needsFiber || !recipient.tryRunOnFiber(new Completion<>(this, (R) value, failure, false))) {
        // lets `awaitCallbacks` recognize this thread, which must not wait for itself: a callback
        // of an `allOf` future may run here and chain code
        messageOrSettler = Thread.currentThread();
        set((R) value, failure);
      } // otherwise a fiber completes the future, and this thread does not wait for it.
      // A release write is enough: threads that need CALLBACKS_RUN poll `state`, and this thread
      // reads no field for which another thread would have to see this write.
      STATE.setRelease(this, (byte) (stateBefore | SETTLED | CALLBACKS_RUN));
    } catch (Throwable error) { // no stack or memory: the caller has more stack, and fails the request
      state = stateBefore;
      throw error;
    } finally {
      messageOrSettler = null;
    }
  }

  /** Completes the future. Called once, unless it throws. */
  @SuppressWarnings("unchecked") // `await` expects a FailedResult
  void set(R value, Throwable failure) {
    endLimit();
    if (failure == null || isBlocking())
      super.complete(failure == null ? value : (R) RequestFailures.failedResult(failure));
    // wrapped, because an unwrapped CancellationException would count as a cancel of the request,
    // and `get` would unwrap a CompletionException
    else super.completeExceptionally(failure instanceof CompletionException || failure instanceof CancellationException
        ? new CompletionException(failure) : failure);
    unparkWaiter();
  }

  private void unparkWaiter() {
    var parkedThread = waiter;
    if (parkedThread != null) LockSupport.unpark(parkedThread);
  }

  /** Sets the bits, unless SETTLED is set already. Returns the state before the change. */
  private byte trySettle(int bits) {
    byte s = state;
    while ((s & SETTLED) == 0 && !STATE.compareAndSet(this, s, (byte) (s | bits))) s = state;
    return s;
  }

  // ---- the asker's side

  @Override
  void parkCheaply() {
    var thread = Thread.currentThread();
    if (!isDone() && thread.isVirtual() && getNumberOfDependents() == 0) parkAsWaiter(thread);
  }

  /**
   * Parks this thread until the future is done or the thread is interrupted. Does nothing if
   * another thread is the waiter.
   */
  void parkAsWaiter(Thread thread) {
    if (!WAITER.compareAndSet(this, null, thread)) return;
    try {
      while (!isDone() && !thread.isInterrupted()) LockSupport.park(this);
    } finally {
      WAITER.setRelease(this, null);
    }
  }

  public R await(Object sentMessage, Deadline askDeadline, Wait.WaitingHandler waiter) {
    return await(sentMessage, askDeadline, waiter, null);
  }

  /** Waits for the answer. The thread spins first if {@link #hasSpinningAsker} returns true. */
  public R await(Object sentMessage, Deadline askDeadline, Wait.WaitingHandler waiter, AnswerSpin spin) {
    R answer;
    try (var wait = publishSent(sentMessage, waiter)) {
      var cycle = wait == null ? null : WaitCycle.findFor(wait);
      if (cycle != null && cancel(true)) throw cycle.exception();
      if (hasSpinningAsker()) spin.spinFor(this); // first, because a wait that parks adds its limit to the sweep
      answer = askDeadline.get(this);
    } catch (InterruptedException | CancellationException interrupt) {
      // a CancellationException: this thread was interrupted while it waited for space in the
      // mailbox
      if (!cancel(true)) withdrawExpired();
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while waiting for the answer of actor '" + recipient.name() + "'; the request is cancelled");
    } catch (ExecutionException failure) {
      throw exceptionFor(failure.getCause(), sentMessage, askDeadline);
    }
    if (answer instanceof RequestFailures.FailedResult failure)
      throw exceptionFor(failure.cause(), sentMessage, askDeadline);
    return answer;
  }

  private RuntimeException exceptionFor(Throwable failure, Object sentMessage, Deadline askDeadline) {
    return failure == RequestFailures.EXPIRED ? timeout(sentMessage, askDeadline) : RequestFailures.rethrown(failure);
  }

  /**
   * Publishes that the handler on this thread waits. Returns null if this thread runs no handler,
   * or the answer has arrived.
   */
  private Wait publish(Object sentMessage, Wait.WaitingHandler waiter, boolean ignoresInterrupts) {
    if (isDone()) return null;
    Wait.checkMayWait(recipient, sentMessage);
    return Wait.begin(recipient, sentMessage, this, waiter, ignoresInterrupts);
  }

  /** Publishes a wait of {@code ask}, which has checked before its send that it may wait. */
  private Wait publishSent(Object sentMessage, Wait.WaitingHandler waiter) {
    if (isDone()) return null;
    Wait.ensureStarted(recipient);
    return Wait.begin(recipient, sentMessage, this, waiter, false);
  }

  /**
   * Fails an {@code ask} whose time is over, and so wakes its asker. May be called on the thread of
   * the timer: no user sees the future of an {@code ask}, so no user code runs here.
   */
  @Override
  public void expire() {
    StackProbe.probe();
    byte stateBefore = trySettle(SETTLED | CALLBACKS_RUN);
    if ((stateBefore & SETTLED) == 0) set(null, RequestFailures.EXPIRED);
  }

  /**
   * Called on the thread of the asker. Makes the exception first, because its diagnosis needs the
   * request in the queue, and then withdraws the request.
   */
  private AskTimeoutException timeout(Object sentMessage, Deadline askDeadline) {
    var failure = timeoutException(sentMessage, askDeadline);
    withdrawExpired();
    return failure;
  }

  private AskTimeoutException timeoutException(Object sentMessage, Deadline askDeadline) {
    Diagnosis diagnosis = null;
    try {
      diagnosis = recipient.diagnose(this);
    } catch (Throwable error) {} // no stack or memory, or from the user's clock: the exception has no diagnosis
    boolean isSettled = (state & SETTLED) != 0; // read before BEGUN, which changes no more after SETTLED
    return RequestFailures.timeout(recipient, sentMessage, askDeadline, isBegun(), isSettled, diagnosis);
  }

  /** Lets the future fail at its deadline; for an asker that does not wait. */
  public void startLimit(Object sentMessage, Deadline answerDeadline) {
    if (isDone()) return;
    answerDeadline.startExpiry(new AnswerLimit<>(this, sentMessage, answerDeadline));
    // The thread that settles the request may have cancelled the limit before this thread started
    // it. In this case SETTLED was set even earlier, so this thread sees SETTLED and cancels the
    // limit
    if ((state & SETTLED) != 0) answerDeadline.cancelExpiry();
  }

  private void endLimit() {
    var answerDeadline = deadline;
    if (answerDeadline != null && !isBlocking()) answerDeadline.cancelExpiry();
  }

  /** Expires the request, because its mailbox had no space for it in time. */
  public void expire(Object sentMessage) {
    if (isBlocking()) expire();
    else expire(sentMessage, deadline);
  }

  @Override
  public void expire(Object sentMessage, Deadline answerDeadline) {
    if (!isDone()) settleExternally(Reason.EXPIRED, null, timeoutException(sentMessage, answerDeadline));
  }

  /**
   * Takes an expired request out of its queue, once, on the thread of its asker; does nothing if
   * the request was settled otherwise.
   */
  private void withdrawExpired() {
    var failure = isCompletedExceptionally() ? exceptionNow()
        : getNow(null) instanceof RequestFailures.FailedResult result ? result.cause() : null;
    if (failure == RequestFailures.EXPIRED) withdraw(Reason.EXPIRED);
  }

  @Override
  public void rememberStart() {
    recipient.rememberStart(this);
  }

  @Override
  public void runOffThread(Runnable code) {
    recipient.runOffThread(code);
  }

  /**
   * Fails the request, because its actor has stopped. If code is chained to the request, another
   * thread completes the future and runs the code, because this thread must not wait for the code.
   */
  @Override
  public boolean failStopped(Object sentMessage) {
    settleExternally(Reason.UNDELIVERED, null, recipient.stopped(sentMessage, RequestOutcome.UNKNOWN));
    return true;
  }

  /** Cancels the request on another thread, because a user may have chained code to it. */
  @Override
  public void cancelUnlessBegun() {
    if (!isBlocking() && !isBegun()) runOffThread(() -> cancel(false));
  }

  /** Fails the request if it has not begun, because the actor has ended. */
  public void failIfQueued() {
    Object queuedMessage = messageOrSettler;
    if (queuedMessage != null) failStopped(queuedMessage);
  }

  /** Returns whether the request is settled, or its answer is promised. */
  @Override
  public boolean isOver() {
    return isAnswered || (state & SETTLED) != 0;
  }

  @Override
  public QueueEntry<Object> entry() {
    return entry;
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return settleExternally(Reason.CANCELLED, null, RequestFailures.CANCELLED) || isCancelled();
  }

  @Override
  public boolean complete(R value) {
    return settleExternally(Reason.CANCELLED, value, null);
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    return settleExternally(Reason.CANCELLED, null, failure);
  }

  /**
   * Settles the request from outside of its actor: for a cancel, an expired limit, or the end of
   * the actor. Returns false if the request was already settled. Without memory, this method throws
   * and changes nothing, or a fiber completes the future later.
   */
  private boolean settleExternally(Reason reason, R value, Throwable failure) {
    StackProbe.probeForActivation(); // also for the calls that remove the entry from its mailbox
    var completion = new Completion<>(this, value, failure, reason == Reason.CANCELLED); // before any change
    if ((trySettle(SETTLED | CALLBACKS_RUN) & SETTLED) != 0) {
      awaitResult();
      return false;
    }
    try {
      withdraw(reason);
    } finally { // the request has left its mailbox, so only this thread can complete the future
      runCompletion(reason, completion);
    }
    return true;
  }

  /**
   * Completes the future. If a user cancels or completes the future, or the limit has passed, the
   * calling thread runs the chained callbacks. If the actor has stopped, another thread runs them.
   */
  private void runCompletion(Reason reason, Completion<R> completion) {
    if (reason != Reason.UNDELIVERED || isBlocking() || getNumberOfDependents() == 0) completion.run();
    else try {
      runOffThread(completion);
    } catch (Throwable noThread) {
      EngineThreads.rescue(completion);
    }
  }

  /**
   * Completes the future of a settled request; no other code completes it. If stack or memory is
   * exhausted, a fiber tries again. This is a record, not a lambda: if memory runs out while the
   * JVM links a lambda for the first time, that lambda may fail forever.
   */
  private record Completion<R>(RequestFuture<R> request, R value, Throwable failure, boolean isByUser)
      implements Runnable, Rescuable {
    @Override
    public void run() {
      EngineThreads.runOrRetry(this);
    }

    /** Completes the future. If a callback has thrown, a second call runs the other callbacks. */
    @Override
    public void rescue() {
      if (isByUser) request.setByUser(value, failure);
      else request.set(value, failure);
    }
  }

  private void setByUser(R value, Throwable failure) {
    if (failure == null) super.complete(value);
    else super.completeExceptionally(failure);
    unparkWaiter();
  }

  /**
   * Called when the request was settled without a drain. Removes the promise of the request, or its
   * entry in the mailbox.
   */
  private void withdraw(Reason reason) {
    try {
      endLimit();
      if (isBegun() && isAnswered) recipient.removePromise(this, true);
      if (!isBegun()) {
        messageOrSettler = null;
        baggage = null;
        deadline = null;
        recipient.onWithdrawn(this, reason);
      }
    } catch (Throwable failure) { // for example from a comparator; the drain skips the request
      EngineLog.log().error(
          "a withdrawn request could not be removed from the mailbox of actor '{}'; it will be skipped",
          recipient.name(), failure);
    }
  }

  /** Waits until the future has its result, which is set right after SETTLED. */
  private void awaitResult() {
    EngineThreads.pauseWhile(() -> !isDone() && (state & SETTLED) != 0, Integer.MAX_VALUE);
  }

  /**
   * Waits until the thread that settled the request will run no more callbacks. Waits at most 0.1
   * s, because a callback of an {@code allOf} future may block that thread.
   */
  private void awaitCallbacks() {
    var thisThread = Thread.currentThread();
    EngineThreads.pauseWhile(() -> (state & (SETTLED | CALLBACKS_RUN)) == SETTLED && messageOrSettler != thisThread,
        200);
  }

  // ---- the users' side

  @Override
  void onChain() {
    for (byte s = state; (s & CHAINED) == 0; s = state) {
      if ((s & SETTLED) != 0) {
        awaitResult();
        awaitCallbacks();
        return;
      }
      if (STATE.compareAndSet(this, s, (byte) (s | CHAINED))) return;
    }
  }

  @Override
  public Wait publish(boolean ignoresInterrupts) {
    return publish(messageOrSettler, Wait.WaitingHandler.current(), ignoresInterrupts);
  }

  /**
   * A request whose observer gets the answer on the thread that completes the request, before that
   * thread settles the request. Thus a slow observer does not delay a limit or a cancel.
   */
  public static final class Observed extends RequestFuture<Object> {
    private final AnswerObserver observer;

    private Observed(Recipient recipient, Object message, Baggage baggage, AnswerObserver observer) {
      super(recipient, message, baggage);
      this.observer = observer;
    }

    /** Returns a request that the calling thread is sending, with its observer if it has one. */
    public static RequestFuture<Object> ofSent(Recipient recipient, Object message, Baggage baggage) {
      var observer = AnswerObserver.ofSent(message);
      return observer.isEmpty() ? new RequestFuture<>(recipient, message, baggage)
          : new Observed(recipient, message, baggage, observer.get());
    }

    /** Returns the observer of a request; empty if it has none. The request may be null. */
    public static Optional<AnswerObserver> observerOf(RequestFuture<?> request) {
      return request instanceof Observed observed ? Optional.of(observed.observer) : Optional.empty();
    }

    @Override
    public void finish(Object value) {
      if (!isDone()) observer.onAnswer(value);
      super.finish(value);
    }

    @Override
    public void fulfill(Object value, Throwable failure) {
      if (failure == null && !isDone()) observer.onAnswer(value);
      super.fulfill(value, failure);
    }
  }
}
