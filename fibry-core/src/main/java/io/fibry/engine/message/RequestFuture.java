package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.queue.Entry;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A request: envelope and future in one object of 48 bytes.
 *
 * <p>A compare-and-set on {@code state} decides two races. BEGUN against SETTLED: is the message
 * handled or cancelled? CHAINED against SETTLED: where do callbacks run? Never on the actor's
 * thread: a drain that settles a request with callbacks completes it on another thread. A thread
 * that chains a callback after SETTLED first waits until the drain, which sets the result and then
 * looks for callbacks, is done with the request.
 */
public final class RequestFuture<R> extends CompletableFuture<R> implements Deadline.Pending<R>, Wait.Awaited {
  // 0 -> BEGUN -> BEGUN|SETTLED, or 0 -> SETTLED; BEGUN -> 0 when stashed. CHAINED may be added
  // until SETTLED. TOLD comes with SETTLED, or, if the drain completes it in place, after it
  private static final byte BEGUN = 1;
  private static final byte SETTLED = 2;
  private static final byte CHAINED = 4;
  private static final byte TOLD = 8; // the settling thread has looked for callbacks, or may run them
  private static final VarHandle STATE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state",
      VarHandle.class, RequestFuture.class, byte.class);

  public interface Recipient extends Wait.Party {
    void withdrawn(RequestFuture<?> request, Reason reason);

    /** Its promised answer is not needed. */
    void forget(RequestFuture<?> request);

    Diagnosis diagnose(RequestFuture<?> request);

    /** Notes what it does now, for a later diagnosis. */
    void note(RequestFuture<?> request);
  }

  public final Recipient recipient;
  public Object next; // as in Envelope
  public Entry<Object> entry; // null: not in a guarded queue; written by the asker before the offer
  public Deadline deadline; // null: none, or settled before it was begun; written as `message`
  // null once begun or settled, or the drain's thread while it completes the request in place;
  // written by the asker before the offer, then by the winner of `state`
  private Object message;
  public Baggage baggage; // null: none, begun or settled; written as `message`
  private volatile byte state;
  public boolean answered; // or promised, by the handler; drain only

  public RequestFuture(Recipient recipient, Object message, Baggage baggage) {
    this.recipient = recipient;
    this.message = message;
    this.baggage = baggage;
  }

  public Object message() {
    return message;
  }

  // ---- the drain's side

  /** Claims it. Null: it was cancelled, or begun before. */
  public Object begin() {
    if (!STATE.compareAndSet(this, (byte) 0, BEGUN) && !STATE.compareAndSet(this, CHAINED, (byte) (CHAINED | BEGUN)))
      return (state & (BEGUN | SETTLED)) == 0 ? begin() : null; // or `chain` came in between
    Object given = message;
    message = null;
    if (baggage != null) baggage = null;
    return given;
  }

  /** Likewise, where no other thread has seen it. */
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

  /** Notes an answer or promise. False: there was one before. */
  public boolean answer() {
    if (answered) return false;
    return answered = true;
  }

  /** Makes it wait again. False: it was settled meanwhile. */
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
    settle(value, null);
  }

  public void fail(Throwable failure) {
    settle(null, failure);
  }

  @SuppressWarnings("unchecked") // `ask` and `reply` check the type
  private void settle(Object value, Throwable failure) {
    byte before = trySettle(SETTLED);
    if ((before & SETTLED) != 0) return;
    try {
      message = null;
      if ((before & CHAINED) != 0 && startedFiber(() -> set((R) value, failure))) return;
      message = Thread.currentThread(); // for awaitTold: a callback behind `allOf` may run here and chain
      set((R) value, failure);
      state = (byte) (before | SETTLED | TOLD);
    } catch (Throwable edge) { // of stack or memory: undo; the caller has more, and fails it
      state = before;
      throw edge;
    } finally {
      message = null;
    }
  }

  private static boolean startedFiber(Runnable completion) {
    try {
      Threads.startFiber(completion);
      return true;
    } catch (Throwable noThread) {
      return false; // better on this thread than never
    }
  }

  private void set(R value, Throwable failure) {
    if (failure == null) super.complete(value);
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

  public R await(Object asked, Deadline until, Wait.Waiter by) {
    try (var wait = publish(asked, by, false)) {
      var ring = wait == null ? null : Ring.closedBy(wait);
      if (ring != null && leave(Reason.CANCELLED, null, Refusals.CANCELLED)) throw ring.exception();
      return until.get(this);
    } catch (InterruptedException | CancellationException interrupted) { // the latter: while it waited for room
      cancel(true);
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while waiting for the answer of actor '" + recipient.name() + "'; the request is cancelled");
    } catch (ExecutionException failed) {
      throw failed.getCause() == Refusals.EXPIRED ? Refusals.timeout(recipient.name(), asked, until, isBegun())
          : Refusals.rethrown(failed.getCause());
    }
  }

  /** Null: no handler waits. */
  private Wait publish(Object asked, Wait.Waiter by, boolean deaf) {
    if (isDone()) return null;
    Wait.prepare(recipient, asked);
    return Wait.begin(recipient, asked, this, by, deaf);
  }

  @Override
  public R park() throws InterruptedException, ExecutionException {
    return super.get();
  }

  @Override
  public R park(long nanos) throws InterruptedException, ExecutionException, TimeoutException {
    return super.get(nanos, TimeUnit.NANOSECONDS);
  }

  /** The asker makes the exception, since its text calls user code. */
  @Override
  public void expire() {
    var own = deadline;
    try {
      if (own != null && !isDone()) own.diagnosis = recipient.diagnose(this);
    } catch (Throwable edge) { // of stack or memory, or of the user's clock: the asker must still be told
    }
    leave(Reason.EXPIRED, null, Refusals.EXPIRED);
  }

  @Override
  public void note() {
    recipient.note(this);
  }

  @Override
  public boolean stop(Object asked) {
    leave(Reason.UNDELIVERED, null, recipient.stopped(asked));
    return true;
  }

  /** Fails it if it waits: the actor has ended. */
  public void stopWaiting() {
    Object waiting = message;
    if (waiting != null) stop(waiting);
  }

  /** Settled or promised. */
  @Override
  public boolean isOver() {
    return answered || (state & SETTLED) != 0;
  }

  @Override
  public Entry<Object> entry() {
    return entry;
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return leave(Reason.CANCELLED, null, Refusals.CANCELLED) || isCancelled();
  }

  @Override
  public boolean complete(R value) {
    return leave(Reason.CANCELLED, value, null);
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    return leave(Reason.CANCELLED, null, Objects.requireNonNull(failure, "failure"));
  }

  /** Settles it without the actor. False: it was settled before. */
  private boolean leave(Reason reason, R value, Throwable failure) {
    StackProbe.probe();
    byte before = trySettle(SETTLED | TOLD);
    if ((before & SETTLED) != 0) {
      awaitResult();
      return false;
    }
    try {
      if ((before & BEGUN) == 0) {
        message = null;
        baggage = null;
        deadline = null;
        withdraw(reason);
      } else if (answered) recipient.forget(this);
      return failure == null ? super.complete(value) : super.completeExceptionally(failure);
    } catch (Throwable edge) { // of stack or memory: undo
      state = before;
      throw edge;
    }
  }

  private void withdraw(Reason reason) {
    try {
      recipient.withdrawn(this, reason);
    } catch (Throwable failure) { // of a comparator, say; the drain skips it
      Log.LOG.error("a request that was taken back could not be taken out of the mailbox of actor '{}'",
          recipient.name(), failure);
    }
  }

  /** The result follows SETTLED at once. */
  private void awaitResult() {
    Threads.pauseWhile(() -> !isDone() && (state & SETTLED) != 0, Integer.MAX_VALUE);
  }

  /**
   * Until the drain has looked for callbacks; at most 0.1 s, as one behind {@code allOf} may hold
   * it up.
   */
  private void awaitTold() {
    var waiting = Thread.currentThread();
    Threads.pauseWhile(() -> (state & (SETTLED | TOLD)) == SETTLED && message != waiting, 200);
  }

  @Override
  public CompletableFuture<R> completeAsync(Supplier<? extends R> supplier, Executor executor) {
    executor.execute(() -> {
      try {
        complete(supplier.get());
      } catch (Throwable failure) {
        completeExceptionally(failure);
      }
    });
    return this;
  }

  @Override
  public void obtrudeValue(R value) {
    throw new UnsupportedOperationException("the answer of an actor cannot be changed");
  }

  @Override
  public void obtrudeException(Throwable failure) {
    obtrudeValue(null);
  }

  // ---- chaining

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    chain();
    return new CompletableFuture<>();
  }

  @Override
  public CompletableFuture<R> toCompletableFuture() {
    chain();
    return this;
  }

  @Override
  public CompletionStage<R> minimalCompletionStage() {
    chain();
    return super.minimalCompletionStage();
  }

  private void chain() {
    for (byte s = state; (s & CHAINED) == 0; s = state) {
      if ((s & SETTLED) != 0) {
        awaitResult();
        awaitTold();
        return;
      }
      if (STATE.compareAndSet(this, s, (byte) (s | CHAINED))) return;
    }
  }

  @Override
  public R get() throws InterruptedException, ExecutionException {
    try (var wait = publish(message, Wait.Waiter.current(), false)) {
      Ring.refuse(wait);
      return super.get();
    }
  }

  @Override
  public R get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    try (var wait = publish(message, Wait.Waiter.current(), false)) {
      Ring.refuse(wait);
      return super.get(timeout, unit);
    }
  }

  @Override
  public R join() {
    try (var wait = publish(message, Wait.Waiter.current(), true)) {
      Ring.refuse(wait);
      return super.join();
    }
  }
}
