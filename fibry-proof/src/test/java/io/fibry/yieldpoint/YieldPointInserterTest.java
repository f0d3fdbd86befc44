package io.fibry.yieldpoint;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Simulation;
import io.fibry.simulation.SimulationFailure;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that textbook races are found in classes that have yield points. */
@Tag("yield-points")
class YieldPointInserterTest {

  /** Two threads increment a count, which must be two afterwards. */
  public abstract static class Race implements Simulation.Program {
    protected abstract void begin();

    protected abstract void count();

    protected abstract int counted();

    @Override
    public final void run(Simulation simulation) throws InterruptedException {
      begin();
      for (int i = 0; i < 2; i++) simulation.client("client" + i, () -> {
        count();
        return null;
      });
      simulation.join();
      if (counted() != 2) throw new AssertionError("counted to " + counted());
    }
  }

  public static final class VolatileCount extends Race {
    private volatile int count;

    @Override
    protected void begin() {
      count = 0;
    }

    @Override
    protected void count() {
      count++;
    }

    @Override
    protected int counted() {
      return count;
    }
  }

  public static final class AtomicCount extends Race {
    private final AtomicInteger count = new AtomicInteger();

    @Override
    protected void begin() {
      count.set(0);
    }

    @Override
    protected void count() {
      count.set(count.get() + 1);
    }

    @Override
    protected int counted() {
      return count.get();
    }
  }

  /** Each read and each write holds the monitor, but the monitor is free between the two. */
  public static final class LockedCount extends Race {
    private int count;

    @Override
    protected void begin() {
      write(0);
    }

    private synchronized void write(long number) {
      count = (int) number;
    }

    @Override
    protected void count() {
      write(counted() + 1);
    }

    @Override
    protected synchronized int counted() {
      return count;
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {VolatileCount.class, AtomicCount.class, LockedCount.class})
  void readWriteRaceIsFoundOnlyWithYieldPoints(Class<?> race) throws Exception {
    var program = YieldPointLoader.changed(race);

    Simulation.run(options -> options.withSeeds(100), program);
    var failure = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> options.withSeeds(100).withYieldPoints(), program));
    var repeated = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> options.withReplay(failure.replay()).withYieldPoints(), program));

    assertTrue(failure.getMessage().contains("yields in " + race.getName().replaceAll(".*\\.", "")),
        failure.getMessage());
    assertTrue(repeated.getMessage().contains("counted to 1"), repeated.getMessage());
  }
}
