package io.fibry.engine.message;

import io.fibry.ActorStoppedException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Outcome;
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

  private Wait.WaitingHandler handler; // at work for it, or null
  public int withdrawn; // requests; plain on purpose
  public final AtomicBoolean promised = new AtomicBoolean(); // an answer, as it notes that
  public final AtomicInteger told = new AtomicInteger(); // that an asker gave up

  /** A handler at work on the thread of the proof. */
  public static final class FakeHandler extends Wait.WaitingHandler {
    private final FakeActor actor;

    public FakeHandler(FakeActor actor) {
      this.actor = actor;
    }

    /** This handler runs inside of that one. */
    public FakeHandler inside(FakeHandler below) {
      outer = below;
      return this;
    }

    /** Goes on on this thread. */
    public void enter() {
      for (Wait.WaitingHandler below = this; below != null; below = below.outer) below.thread = Thread.currentThread();
      makeCurrent(this);
    }

    @Override
    public Wait.WaitTarget party() {
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

  /** With release, as a cell publishes its drain. */
  public void publish(FakeHandler drain) {
    HANDLER.setRelease(this, drain);
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
  public boolean isRescued() {
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
  public ActorStoppedException stopped(Object message, Outcome outcome) {
    return RequestFailures.stopped(this, message, new ExitReason.Finished(), outcome);
  }

  @Override
  public void onWithdrawn(RequestFuture<?> request, Reason reason) {
    withdrawn++;
  }

  @Override
  public void removePromise(RequestFuture<?> request, boolean givenUp) {
    if (promised.getAndSet(false) && givenUp) told.incrementAndGet();
  }

  @Override
  public Diagnosis diagnose(RequestFuture<?> request) {
    return new Diagnosis("it is a fake", null);
  }

  @Override
  public void rememberStart(RequestFuture<?> request) {}
}
