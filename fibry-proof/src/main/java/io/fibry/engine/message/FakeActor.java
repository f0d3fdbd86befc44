package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.RequestOutcome;
import io.fibry.engine.queue.PoolBlockers;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** An actor without an engine, for proofs about requests and waits. */
public final class FakeActor implements Recipient {
  private static final VarHandle HANDLER = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "handler",
      VarHandle.class, FakeActor.class, Wait.WaitingHandler.class);

  private Wait.WaitingHandler handler; // the running handler, or null
  public int withdrawnCount; // the number of withdrawn requests; a plain field on purpose
  public final AtomicBoolean isPromised = new AtomicBoolean(); // whether an answer is promised
  // How often the actor was notified that an asker had stopped waiting.
  public final AtomicInteger abandonedCount = new AtomicInteger();

  /** A handler that runs on the thread of the proof. */
  public static final class FakeHandler extends Wait.WaitingHandler {
    private final FakeActor actor;

    public FakeHandler(FakeActor actor) {
      this.actor = actor;
    }

    /** Records that this handler runs inside another handler, on the same thread. */
    public FakeHandler inside(FakeHandler caller) {
      outer = caller;
      return this;
    }

    /** Makes this handler and its outer handlers run on the current thread. */
    public void enter() {
      for (Wait.WaitingHandler handler = this; handler != null; handler = handler.outer)
        handler.thread = Thread.currentThread();
      makeCurrent(this);
    }

    @Override
    public Wait.WaitTarget actor() {
      return actor;
    }

    @Override
    public boolean ownsThread() {
      return false;
    }

    @Override
    public Deadline answerDeadline() {
      return null;
    }

    @Override
    protected boolean handles(Wait.Awaitable request) {
      return false;
    }
  }

  /** Publishes a handler by a release write, as a cell publishes its drain. */
  public void publish(FakeHandler newHandler) {
    HANDLER.setRelease(this, newHandler);
  }

  @Override
  public Wait.WaitingHandler blocker() {
    return (Wait.WaitingHandler) HANDLER.getAcquire(this);
  }

  @Override
  public void runOffThread(Runnable code) {
    code.run();
  }

  @Override
  public boolean tryRunOnFiber(Runnable code) {
    Thread.startVirtualThread(code);
    return true;
  }

  @Override
  public boolean mayLogContents() {
    return true;
  }

  @Override
  public String name() {
    return "fake";
  }

  @Override
  public boolean isCurrent() {
    return false;
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

  @Override
  public boolean tryRescue() {
    return true;
  }

  @Override
  public boolean isStranded() {
    return false;
  }

  @Override
  public boolean isEnding() {
    return false;
  }

  @Override
  public boolean isBeingKilled() {
    return false;
  }

  @Override
  public ActorStoppedException stopped(Object message, RequestOutcome outcome) {
    return RequestFailures.stopped(this, message, new ExitReason.Finished(), outcome);
  }

  @Override
  public void onWithdrawn(RequestFuture<?> request, Reason reason) {
    withdrawnCount++;
  }

  @Override
  public void removePromise(RequestFuture<?> request, boolean isAbandoned) {
    if (isPromised.getAndSet(false) && isAbandoned) abandonedCount.incrementAndGet();
  }

  @Override
  public Diagnosis diagnose(RequestFuture<?> request) {
    return new Diagnosis("it is a fake", null);
  }

  @Override
  public void rememberStart(RequestFuture<?> request) {}
}
