package io.fibry.engine.message;

import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.PlainQueue;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.queue.Entry;
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
 * <p>Two races are decided by one compare-and-set each on {@code state}. Who sets BEGUN or SETTLED
 * first decides whether the message is handled or was cancelled. Who sets CHAINED or SETTLED first
 * decides where callbacks run: a drain that settles a request with something chained to it
 * completes it on another thread, and who chains after it was settled waits until the drain is
 * through with it, a few instructions away, so that its callback runs on its own thread. The result
 * alone is not enough to wait for: the drain looks for callbacks after it has set it. So no
 * callback runs in the actor's turn.
 */
public final class RequestFuture<R> extends CompletableFuture<R> {
  // 0 -> BEGUN -> BEGUN|SETTLED, or 0 -> SETTLED; BEGUN -> 0 when put aside; CHAINED is added any
  // time before SETTLED; TOLD comes with SETTLED, or after it from who completes it in place
  private static final byte BEGUN = 1;
  private static final byte SETTLED = 2;
  private static final byte CHAINED = 4;
  // who settled it no longer looks for callbacks, or may run them
  private static final byte TOLD = 8;
  private static final CancellationException CANCELLED = new Cancelled();
  private static final Throwable EXPIRED = new Expired();
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(RequestFuture.class, "state", byte.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  public final ActorCell cell;
  public Object next; // as in Envelope
  // where it stands in a guarded queue; written by the asker before it is offered
  public Entry<Object> place;
  // of the `ask` that made it; null: none made it, or it was settled before it was begun. Written
  // by the asker before it is offered, then as `message`
  public Deadline limit;
  // null once begun or settled; written by the asker, then by who won `state`: while it completes
  // it in place, its thread
  private Object message;
  // null: nothing, or begun or settled; written by who writes `message`, read by the drain before
  // it begins with it
  public Baggage along;
  private volatile byte state;
  public boolean answered; // by the handler's `reply..`; drain only

  public RequestFuture(ActorCell cell, Object message) {
    this(cell, message, null);
  }

  public RequestFuture(ActorCell cell, Object message, Baggage along) {
    this.cell = cell;
    this.message = message;
    this.along = along;
  }

  /** For one that waits: what was asked; null once it was begun or settled. */
  public Object message() {
    return message;
  }

  // ---- the drain's side

  /** Claims it for handling. Null: it was cancelled, or begun before. */
  public Object begin() {
    if (!STATE.compareAndSet(this, (byte) 0, BEGUN) && !STATE.compareAndSet(this, CHAINED, (byte) (CHAINED | BEGUN)))
      return beginSlowly();
    Object given = message;
    message = null;
    if (along != null) along = null;
    return given;
  }

  /** The same for one that nobody else has seen. */
  public Object beginUnseen() {
    STATE.set(this, BEGUN);
    Object given = message;
    message = null;
    return given;
  }

  private Object beginSlowly() {
    // the two steps above and `chain` crossed
    return (state & (BEGUN | SETTLED)) == 0 ? begin() : null;
  }

  /** Whether its handler began and nobody answered, promised or settled it. */
  public boolean open() {
    return (state & (BEGUN | SETTLED)) == BEGUN && !answered;
  }

  public boolean begun() {
    return (state & BEGUN) != 0;
  }

  /** Whether its handler has answered it, or promised to. */
  public boolean answered() {
    return answered;
  }

  /** Whether nobody's handler stands in the way of its end any more: it is settled, or promised. */
  public boolean inGoodHands() {
    return answered || (state & SETTLED) != 0;
  }

  /** Notes that the handler answers it, now or by a promise; false if it has before. */
  public boolean answer() {
    if (answered) return false;
    return answered = true;
  }

  /** Puts it aside, as if it had not been begun; false if it was settled meanwhile. */
  public boolean putAside(Object given) {
    message = given;
    for (byte s = state; (s & SETTLED) == 0; s = state)
      if (STATE.compareAndSet(this, s, (byte) (s & ~BEGUN))) return true;
    message = null;
    along = null;
    return false;
  }

  public void finish(Object value) {
    settle(value, null);
  }

  public void fail(Throwable failure) {
    settle(null, failure);
  }

  // the handler's answer is the asker's R: `ask` and `reply` are typed by the request
  @SuppressWarnings("unchecked")
  private void settle(Object value, Throwable failure) {
    byte before = settled(SETTLED);
    if ((before & SETTLED) != 0) return;
    try {
      message = null;
      if ((before & CHAINED) != 0 && elsewhere(() -> set((R) value, failure))) return;
      message = Thread.currentThread(); // what stands behind `allOf` runs here, and may chain again
      set((R) value, failure);
      state = (byte) (before | SETTLED | TOLD);
    } catch (Throwable edge) {
      // of the stack, or of memory: as if nothing had been; who called has more of it, and fails it
      state = before;
      throw edge;
    } finally {
      message = null;
    }
  }

  private boolean elsewhere(Runnable completion) {
    try {
      Threads.FIBER.activate(completion);
      return true;
    } catch (Throwable noThread) {
      return false; // better here than never
    }
  }

  private void set(R value, Throwable failure) {
    if (failure == null) super.complete(value);
    // the JDK would take these two for its own: a cancelled future, and a wrapper to unwrap
    else super.completeExceptionally(failure instanceof CompletionException || failure instanceof CancellationException
        ? new CompletionException(failure) : failure);
  }

  /** Sets these bits, unless SETTLED is set; answers what was there before. */
  private byte settled(int bits) {
    byte s = state;
    while ((s & SETTLED) == 0 && !STATE.compareAndSet(this, s, (byte) (s | bits))) s = state;
    return s;
  }

  // ---- the asker's side

  /** Waits for the answer at most so long, and throws what the handler threw. */
  public R await(Object asked, Deadline limit, Activation by) {
    try (var wait = waits(asked, by, false)) {
      var ring = wait == null ? null : wait.ring();
      if (ring != null && leave(DeadLetter.Reason.CANCELLED, null, CANCELLED)) throw Wait.exception(ring);
      return limit.get(this);
    } catch (InterruptedException | CancellationException interrupted) {
      // the latter where it waited for room
      cancel(true);
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while waiting for the answer of actor '" + cell.name() + "'; the request is cancelled");
    } catch (ExecutionException failed) {
      if (failed.getCause() == EXPIRED) throw AskTimeoutException.of(cell, asked, limit, (state & BEGUN) != 0);
      throw thrown(failed.getCause());
    }
  }

  /** Publishes the wait, if this is a handler's thread and there is still something to wait for. */
  private Wait waits(Object asked, Activation by, boolean deaf) {
    if (isDone()) return null;
    Wait.prepare(cell, asked);
    return Wait.begin(cell, asked, this, by, deaf);
  }

  /** Its value, for one who has published that he waits. */
  public R value() throws InterruptedException, ExecutionException {
    return super.get();
  }

  /** The same, for so long. */
  public R value(long nanos) throws InterruptedException, ExecutionException, TimeoutException {
    return super.get(nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * The handler's own exception, with the asker's stack added: unless it carries four already, or
   * one object thrown for ever would grow for ever.
   */
  public static RuntimeException thrown(Throwable failure) {
    if (failure.getSuppressed().length < 4) failure.addSuppressed(new AskedHere());
    return RequestFuture.<RuntimeException>sneak(failure);
  }

  @SuppressWarnings("unchecked") // the point of it: a checked exception leaves as itself
  private static <T extends Throwable> T sneak(Throwable failure) throws T {
    throw (T) failure;
  }

  /**
   * The time is over. What is thrown is made by the asker: the text asks the message for its own.
   */
  public void expire() {
    var own = limit;
    if (own != null && !isDone()) own.why = Diagnosis.of(this);
    leave(DeadLetter.Reason.EXPIRED, null, EXPIRED);
  }

  /** The actor was cut off. */
  public void cutOff(Object asked) {
    leave(DeadLetter.Reason.UNDELIVERED, null, cell.stopped(asked));
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return leave(DeadLetter.Reason.CANCELLED, null, CANCELLED) || isCancelled();
  }

  @Override
  public boolean complete(R value) {
    return leave(DeadLetter.Reason.CANCELLED, value, null);
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    return leave(DeadLetter.Reason.CANCELLED, null, failure);
  }

  /** Takes the request out of the actor's hands; false if it was settled before. */
  private boolean leave(DeadLetter.Reason reason, R value, Throwable failure) {
    StackProbe.probe();
    byte before = settled(SETTLED | TOLD);
    if ((before & SETTLED) != 0) {
      awaitResult();
      return false;
    }
    try {
      if ((before & BEGUN) == 0) {
        message = null;
        along = null;
        limit = null;
        withdraw(reason);
      } else if (answered) cell.forget(this);
      return failure == null ? super.complete(value) : super.completeExceptionally(failure);
    } catch (Throwable edge) { // of the stack, or of memory: not taken out, and may be again
      state = before;
      throw edge;
    }
  }

  private void withdraw(DeadLetter.Reason reason) {
    try {
      cell.withdrawn(this, reason);
    } catch (Throwable failure) { // of a comparator, say: the drain will skip it
      Scope.LOG.error("a request that was taken back could not be taken out of the mailbox of actor '{}'", cell.name(),
          failure);
    }
  }

  /** It is settled: the result is a few instructions away. */
  private void awaitResult() {
    boolean interrupted = false;
    for (int tries = 0; !isDone() && (state & SETTLED) != 0; tries++) interrupted |= PlainQueue.backOff(tries);
    if (interrupted) Thread.currentThread().interrupt();
  }

  /**
   * The drain has set the result, and looks for callbacks: for a tenth of a second at most, since
   * it may be held up by one that stands behind {@code allOf}.
   */
  private void awaitTold() {
    boolean interrupted = false;
    for (int tries = 0; tries < 200 && (state & (SETTLED | TOLD)) == SETTLED && message != Thread.currentThread();
        tries++)
      interrupted |= PlainQueue.backOff(tries);
    if (interrupted) Thread.currentThread().interrupt();
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
    throw new UnsupportedOperationException("the answer of an actor cannot be changed");
  }

  // ---- chaining: the ways by which the JDK attaches a dependent

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

  // ---- waiting

  @Override
  public R get() throws InterruptedException, ExecutionException {
    try (var wait = waits(message, Activation.CURRENT.get(), false)) {
      if (wait != null) wait.refuseRing();
      return super.get();
    }
  }

  @Override
  public R get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    try (var wait = waits(message, Activation.CURRENT.get(), false)) {
      if (wait != null) wait.refuseRing();
      return super.get(timeout, unit);
    }
  }

  @Override
  public R join() {
    try (var wait = waits(message, Activation.CURRENT.get(), true)) {
      if (wait != null) wait.refuseRing();
      return super.join();
    }
  }

  /** One for all: with a stack each, a million cancelled requests would keep 0.8 GB. */
  private static final class Cancelled extends CancellationException {
    private static final long serialVersionUID = 1;

    public Cancelled() {
      super("the request was cancelled");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }

  /**
   * One for all, and without a stack too: that of whoever came first would keep his class loader
   * for ever.
   */
  private static final class Expired extends Exception {
    private static final long serialVersionUID = 1;

    public Expired() {
      super("the time for the answer is over", null, false, false);
    }
  }

  /** The asker's stack. */
  private static final class AskedHere extends Exception {
    private static final long serialVersionUID = 1;

    public AskedHere() {
      super("asked here", null, false, true);
    }
  }
}
