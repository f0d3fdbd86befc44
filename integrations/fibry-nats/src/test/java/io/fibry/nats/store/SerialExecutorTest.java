package io.fibry.nats.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {
  /** A task that can be completed only at the second try. */
  private static final class StubbornTask extends CompletableFuture<String> {
    private boolean hasFailed;

    @Override
    public boolean completeExceptionally(Throwable failure) {
      if (!hasFailed) {
        hasFailed = true;
        throw new OutOfMemoryError("made up, for a test");
      }
      return super.completeExceptionally(failure);
    }
  }

  private boolean fails = true; // used on the fiber of the executor only

  private void work(List<CompletableFuture<String>> tasks) {
    if (fails) {
      fails = false;
      throw new IllegalStateException("on purpose");
    }
    tasks.forEach(task -> task.complete("done"));
  }

  @Test
  void laterTaskRunsThoughCompletionOfFailedTaskThrows() {
    var executor = new SerialExecutor<CompletableFuture<String>>("test", this::work, () -> {});
    var failedTask = new StubbornTask();
    executor.add(failedTask);
    assertEquals("on purpose", Patience.failure(failedTask).getMessage());

    var laterTask = new CompletableFuture<String>();
    executor.add(laterTask);

    assertEquals("done", Patience.value(laterTask));
    Patience.eventually(executor::isIdle);
  }
}
