package io.fibry;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/** A task of the user's executor for each activation. */
public record OnExecutor(Executor executor) implements Strategy {
  public OnExecutor {
    Objects.requireNonNull(executor, "executor");
  }

  @Override
  public void activate(Runnable activation) {
    executor.execute(activation);
  }

  /** Whether it will never run anything again. */
  public boolean shutDown() {
    return executor instanceof ExecutorService service && service.isShutdown();
  }

  @Override
  public String toString() {
    return "on(" + executor + ")";
  }
}
