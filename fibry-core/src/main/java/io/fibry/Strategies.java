package io.fibry;

import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.text.Lines;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/** Implements the strategies that {@link Strategy} offers. */
final class Strategies {
  static final Strategy FIBER = new NamedStrategy("FIBER", EngineThreads::startDrain, false);
  static final Strategy RESIDENT_FIBER = new NamedStrategy("RESIDENT_FIBER", EngineThreads::startFiber, true);
  static final Strategy THREAD = new NamedStrategy("THREAD", EngineThreads::startPlatformThread, true);
  static final Strategy CALLER = new NamedStrategy("CALLER", CallerThreadRunner::run, false);

  private Strategies() {}

  private record NamedStrategy(String name, Executor executor, boolean isResident) implements Strategy {
    @Override
    public void activate(Runnable activation) {
      executor.execute(activation);
    }

    @Override
    public String toString() {
      return name;
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
