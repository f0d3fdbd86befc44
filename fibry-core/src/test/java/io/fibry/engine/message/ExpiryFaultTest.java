package io.fibry.engine.message;

import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests waits and answers that cannot expire at once, because memory is exhausted. */
class ExpiryFaultTest {
  private final AtomicInteger remainingFaults = new AtomicInteger(3);
  private final CountDownLatch expired = new CountDownLatch(1);

  private void expireOrFail() {
    if (remainingFaults.getAndDecrement() > 0) throw new OutOfMemoryError("planned");
    expired.countDown();
  }

  @Test
  void waitExpiresAlthoughItsTimerFailsToStart() {
    LongWaitSweep.add(new LongWaitSweep.SweepEntry() {
      @Override
      void startTimer() {
        expireOrFail();
      }
    });

    Patience.await(expired);
  }

  @Test
  void expiryOfRequestIsRetriedAfterItFails() {
    new AnswerLimit<>(new FailingAnswer(), "request", Deadline.NONE).run();

    Patience.await(expired);
  }

  private final class FailingAnswer implements AnswerLimit.ExpiringAnswer<Object> {
    @Override
    public void expire(Object message, Deadline deadline) {
      expireOrFail();
    }

    @Override
    public void runOffThread(Runnable code) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isDone() {
      return expired.getCount() == 0;
    }

    @Override
    public Object park() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Object park(long nanos) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void expire() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void rememberStart() {}
  }
}
