package io.fibry;

import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.text.Lines;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/** Implements the strategies that {@link Strategy} offers. */
final class Strategies {
  static final Strategy FIBER = NamedStrategy.FIBER;
  static final Strategy RESIDENT_FIBER = NamedStrategy.RESIDENT_FIBER;
  static final Strategy THREAD = NamedStrategy.THREAD;
  static final Strategy CALLER = NamedStrategy.CALLER;

  private Strategies() {}

  /** The strategies without an executor. No lambdas, because the first actor would link them. */
  private enum NamedStrategy implements Strategy {
    FIBER, RESIDENT_FIBER, THREAD, CALLER;

    @Override
    public void activate(Runnable activation) {
      if (this == FIBER) EngineThreads.startDrain(activation);
      else if (this == RESIDENT_FIBER) EngineThreads.startFiber(activation);
      else if (this == THREAD) EngineThreads.startPlatformThread(activation);
      else CallerThreadRunner.run(activation);
    }

    @Override
    public boolean isResident() {
      return this == RESIDENT_FIBER || this == THREAD;
    }
  }

  record OnExecutor(Executor executor) implements Strategy {
    OnExecutor {
      Objects.requireNonNull(executor, "executor");
    }

    @Override
    public void activate(Runnable activation) {
      executor.execute(activation);
    }

    @Override
    public boolean isShutDown() {
      return executor instanceof ExecutorService service && service.isShutdown();
    }

    @Override
    public String toString() {
      return "Strategy.of(" + Lines.text(executor) + ")";
    }
  }
}
