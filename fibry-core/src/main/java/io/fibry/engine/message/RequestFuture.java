package io.fibry.engine.message;

import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.Outcome;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.queue.QueueEntry;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * A request: the envelope of a message and the future of its asker, in one object of 48 bytes.
 *
 * <p><b>States.</b> One byte has flags that are set by compare-and-set. BEGUN: a drain handles the
 * request; only a stash clears it. SETTLED: it has a result, or was withdrawn. CHAINED: code of a
 * user is chained to it. TOLD: the drain, or another thread, is done with completing it.
 *
 * <p><b>BEGUN against SETTLED</b> decides whether the request is handled. A drain sets BEGUN when
 * it takes the request; a cancel, a limit, or a completion from outside sets SETTLED. The first one
 * wins, and a withdrawn request gives its place in the mailbox back.
 *
 * <p><b>CHAINED against SETTLED</b> decides where callbacks run, which is never the thread of the
 * actor. A drain that finds CHAINED completes the future on another thread. A drain that finds none
 * sets SETTLED, completes the future itself, and then sets TOLD. A thread that chains code after
 * SETTLED waits for TOLD, a tenth of a second at most, and runs the code itself.
 *
 * <p><b>Failure.</b> If the drain has no stack or memory left to complete the future, it takes
 * SETTLED back, and its caller, which has more room, fails the request.
 *
 * <p><b>Refused.</b> A future beside the envelope: 24 bytes more, and two states that must agree.
 * Always completing on another thread: twice the cost of a request.
 */
public final class RequestFuture<R> extends AnswerFuture<R> implements AnswerLimit.ExpiringAnswer<R>, Wait.Awaitable {
  // 0 -> BEGUN -> BEGUN|SETTLED, or 0 -> SETTLED; BEGUN -> 0 when stashed. CHAINED may be added
  // until SETTLED. TOLD comes with SETTLED, or, if the drain completes it in place, after it
  private static final byte BEGUN = 1;
  private static final byte SETTLED = 2;
  private static final byte CHAINED = 4;
  private static final byte CALLBACKS_RUN = 8; // the settling thread has looked for callbacks, or may run them
  private static final VarHandle STATE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state",
      VarHandle.class, RequestFuture.class, byte.class);

  static {
    new Completion<>(null, null, null); // loads its class while there is memory
  }

  public final Recipient recipient;
  public Object next; // as in Envelope
  public QueueEntry<Object> entry; // null outside of guarded queues; written by the asker before the offer
  public Deadline deadline; // null without a limit, or if settled before it began; written as `message`
  // Null once the request has begun or was settled; the drain's thread while it completes the
  // request in place. Written by the asker before the offer, then by the winner of `state`
  private Object message;
  public Baggage baggage; // null if there is none, or once the request has begun or was settled; written as `message`
  private volatile byte state;
  public boolean answered; // or promised, by the handler; drain only
  public boolean hasDeclaredType; // its future has the type that the request declares; written before the offer
  private final boolean blocking; // by `ask`: no user sees it, and a failure is its value, see Failed

  RequestFuture(Recipient recipient, Object message, Baggage baggage) {
    this(recipient, message, baggage, false);
  }

  public RequestFuture(Recipient recipient, Object message, Baggage baggage, boolean blocking) {
    this.blocking = blocking;
    this.recipient = recipient;
    this.message = message;
    this.baggage = baggage;
  }

  public Object message() {
    return message;
  }

  // ---- the drain's side

  /** Claims it. Returns null if the request was canceled, or has begun before. */
  public Object begin() {
    if (!STATE.compareAndSet(this, (byte) 0, BEGUN) && !STATE.compareAndSet(this, CHAINED, (byte) (CHAINED | BEGUN)))
      return (state & (BEGUN | SETTLED)) == 0 ? begin() : null; // or `chain` came in between
    Object given = message;
    message = null;
    if (baggage != null) baggage = null;
    return given;
  }

  /** Begins a request that no other thread has seen. */
  public Object beginUnseen() {
    STATE.set(this, BEGUN);
    Object given = message;
    message = null;
    return given;
  }

  /** Begun, and neither answered nor promised. */
  public boolean isOpen() {
    return (state & (BEGUN | SETTLED)) == BEGUN && !answered;
  }

  public boolean isBegun() {
    return (state & BEGUN) != 0;
  }

  /** Notes an answer or promise. Returns false if there was an answer before. */
  public boolean markAnswered() {
    if (answered) return false;
    return answered = true;
  }

  /**
   * After its promise was noted: its asker may not have seen that it is answered. One of both sees
   * the other, since the asker sets SETTLED before it looks.
   */
  public void checkAbandoned() {
    VarHandle.fullFence(); // `answered` is written, SETTLED not yet read
    if ((state & SETTLED) != 0) recipient.removePromise(this, true);
  }

  /** Makes it wait again. Returns false if the request was settled meanwhile. */
  public boolean stash(Object given, Baggage with) {
    baggage = with;
    message = given;
    for (byte s = state; (s & SETTLED) == 0; s = state)
      if (STATE.compareAndSet(this, s, (byte) (s & ~BEGUN))) return true;
    message = null;
    baggage = null;
    return false;
  }

  public void finish(Object value) {
    settle(value, null, false);
  }

  public void fail(Throwable failure) {
    settle(null, failure, false);
  }

  /** Completes the request on the thread that keeps a promise, where no code of the asker runs. */
  public void fulfill(Object value, Throwable failure) {
    settle(value, failure, !blocking);
  }

  @SuppressWarnings("unchecked") // `ask` and `reply` check the type
  private void settle(Object value, Throwable failure, boolean offThread) {
    byte before = trySettle(SETTLED);
    if ((before & SETTLED) != 0) return;
    try {
      message = null;
      boolean onFiber = offThread || (before & CHAINED) != 0;
      if (!onFiber || !recipient.tryRunOnFiber(new Completion<>(this, (R) value, failure))) { // better here than never
        message = Thread.currentThread(); // for awaitTold: a callback behind `allOf` may run here and chain
        set((R) value, failure);
      } // otherwise a fiber runs the callbacks, so this thread need not wait
      state = (byte) (before | SETTLED | CALLBACKS_RUN);
    } catch (Throwable edge) { // of stack or memory: undo the change; the caller has more room, and fails the request
      state = before;
      throw edge;
    } finally {
      message = null;
    }
  }

  @SuppressWarnings("unchecked") // `await` knows Failed
  private void set(R value, Throwable failure) {
    endLimit();
    if (failure == null || blocking)
      super.complete(failure == null ? value : (R) RequestFailures.failedResult(failure));
    // the JDK would take these two for its own
    else super.completeExceptionally(failure instanceof CompletionException || failure instanceof CancellationException
        ? new CompletionException(failure) : failure);
  }

  /** Adds these bits unless SETTLED is set. Returns those before. */
  private byte trySettle(int bits) {
    byte s = state;
    while ((s & SETTLED) == 0 && !STATE.compareAndSet(this, s, (byte) (s | bits))) s = state;
    return s;
  }

  // ---- the asker's side

  public R await(Object given, Deadline until, Wait.WaitingHandler waiter) {
    R answer;
    try (var wait = publish(given, waiter, false)) {
      var cycle = wait == null ? null : WaitCycle.findFor(wait);
      if (cycle != null && cancel(true)) throw cycle.exception();
      answer = until.get(this);
    } catch (InterruptedException | CancellationException interrupted) { // the latter: while it waited for room
      if (!cancel(true)) withdrawExpired();
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while waiting for the answer of actor '" + recipient.name() + "'; the request is cancelled");
    } catch (ExecutionException failed) {
      throw failed(failed.getCause(), given, until);
    }
    if (answer instanceof RequestFailures.FailedResult failed) throw failed(failed.cause(), given, until);
    return answer;
  }

  private RuntimeException failed(Throwable failure, Object given, Deadline until) {
    return failure == RequestFailures.EXPIRED ? timeout(given, until) : RequestFailures.rethrown(failure);
  }

  /** Returns null if this thread runs no handler. */
  private Wait publish(Object given, Wait.WaitingHandler waiter, boolean ignoresInterrupts) {
    if (isDone()) return null;
    Wait.prepare(recipient, given);
    return Wait.begin(recipient, given, this, waiter, ignoresInterrupts);
  }

  /** On the timer's thread: only wakes the asker. No user knows this request, or chains to it. */
  @Override
  public void expire() {
    StackProbe.probe();
    byte before = trySettle(SETTLED | CALLBACKS_RUN);
    if ((before & SETTLED) == 0) set(null, RequestFailures.EXPIRED);
  }

  /**
   * Makes the exception on the thread of the asker, which finds out the reason while the request is
   * still in its queue.
   */
  private AskTimeoutException timeout(Object given, Deadline until) {
    var failure = lateness(given, until);
    withdrawExpired();
    return failure;
  }

  private AskTimeoutException lateness(Object given, Deadline until) {
    Diagnosis diagnosis = null;
    try {
      diagnosis = recipient.diagnose(this);
    } catch (Throwable edge) {} // of stack or memory, or of the user's clock: the asker must still be told
    boolean settled = (state & SETTLED) != 0; // read before BEGUN, which then changes no more
    return RequestFailures.timeout(recipient, given, until, isBegun(), settled, diagnosis);
  }

  /** For a future whose asker does not wait: it fails when the deadline is over. */
  public void startLimit(Object given, Deadline until) {
    if (isDone()) return;
    until.startExpiry(new AnswerLimit<>(this, given, until));
    // The thread that settles the request sets SETTLED before it looks for a limit
    if ((state & SETTLED) != 0) until.cancelExpiry();
  }

  private void endLimit() {
    var until = deadline;
    if (until != null && !blocking) until.cancelExpiry();
  }

  /** Its mailbox had no room for it. */
  public void expire(Object given) {
    if (blocking) expire();
    else expire(given, deadline);
  }

  @Override
  public void expire(Object given, Deadline until) {
    if (!isDone()) settleExternally(Reason.EXPIRED, null, lateness(given, until));
  }

  /**
   * Takes an expired request out of its queue, once, on the thread of its asker; does nothing if
   * the request was settled otherwise.
   */
  private void withdrawExpired() {
    var failure = isCompletedExceptionally() ? exceptionNow()
        : getNow(null) instanceof RequestFailures.FailedResult failed ? failed.cause() : null;
    if (failure == RequestFailures.EXPIRED) withdraw(Reason.EXPIRED);
  }

  @Override
  public void noteStart() {
    recipient.rememberStart(this);
  }

  @Override
  public void runOffThread(Runnable code) {
    recipient.runOffThread(code);
  }

  /**
   * If code is chained to the request, another thread completes it, because this thread must not be
   * held up.
   */
  @Override
  public boolean failStopped(Object given) {
    settleExternally(Reason.UNDELIVERED, null, recipient.stopped(given, Outcome.UNKNOWN));
    return true;
  }

  /** Otherwise chained user code would run on this thread. */
  @Override
  public void cancelUnlessBegun() {
    if (!blocking && !isBegun()) runOffThread(() -> cancel(false));
  }

  /** Fails it if it waits: the actor has ended. */
  public void failIfQueued() {
    Object waiting = message;
    if (waiting != null) failStopped(waiting);
  }

  /** Settled or promised. */
  @Override
  public boolean isOver() {
    return answered || (state & SETTLED) != 0;
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

  /** Settles it without the actor. Returns false if the request was settled before. */
  private boolean settleExternally(Reason reason, R value, Throwable failure) {
    StackProbe.probe();
    byte before = trySettle(SETTLED | CALLBACKS_RUN);
    if ((before & SETTLED) != 0) {
      awaitResult();
      return false;
    }
    try {
      withdraw(reason);
      return conclude(reason, value, failure);
    } catch (Throwable edge) { // of stack or memory: undo
      state = before;
      throw edge;
    }
  }

  /** The reason CANCELLED comes from the asker, which knows the code that it has chained. */
  private boolean conclude(Reason reason, R value, Throwable failure) {
    if (reason == Reason.CANCELLED)
      return failure == null ? super.complete(value) : super.completeExceptionally(failure);
    if (reason == Reason.EXPIRED || blocking || getNumberOfDependents() == 0) set(value, failure);
    else runOffThread(new Completion<>(this, value, failure));
    return true;
  }

  /** No lambda: see {@link Deadline}. */
  private record Completion<R>(RequestFuture<R> request, R value, Throwable failure) implements Runnable {
    @Override
    public void run() {
      request.set(value, failure);
    }
  }

  /** Once settled: its promise, or its place in the mailbox, is not needed. */
  private void withdraw(Reason reason) {
    try {
      endLimit();
      if (isBegun() && answered) recipient.removePromise(this, true);
      if (!isBegun()) {
        message = null;
        baggage = null;
        deadline = null;
        recipient.onWithdrawn(this, reason);
      }
    } catch (Throwable failure) { // of a comparator, say; the drain skips it
      EngineLog.LOG.error("a request that was taken back could not be taken out of the mailbox of actor '{}'",
          recipient.name(), failure);
    }
  }

  /** The result follows SETTLED at once. */
  private void awaitResult() {
    EngineThreads.pauseWhile(() -> !isDone() && (state & SETTLED) != 0, Integer.MAX_VALUE);
  }

  /** Until the drain looked for callbacks; 0.1 s at most, as one behind {@code allOf} may block. */
  private void awaitCallbacks() {
    var waiting = Thread.currentThread();
    EngineThreads.pauseWhile(() -> (state & (SETTLED | CALLBACKS_RUN)) == SETTLED && message != waiting, 200);
  }

  // ---- the users' side

  @Override
  void chain() {
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
    return publish(message, Wait.WaitingHandler.current(), ignoresInterrupts);
  }
}
