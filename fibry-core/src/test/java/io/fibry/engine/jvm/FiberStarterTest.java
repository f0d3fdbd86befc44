package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class FiberStarterTest {
  private final Queue<Runnable> fibers = new ArrayDeque<>(); // started, and not yet run
  private final List<Runnable> kept = new ArrayList<>();
  private final List<String> ran = new ArrayList<>();

  private FiberStarter relay(Executor starter, long patience) {
    return new FiberStarter(starter, kept::add, patience);
  }

  private void runFibers() {
    for (var next = fibers.poll(); next != null; next = fibers.poll()) next.run();
  }

  @Test
  void manyTasksShareFetcher() {
    var relay = relay(fibers::add, Long.MAX_VALUE);

    for (var task : List.of("a", "b", "c")) relay.enqueue(() -> ran.add(task));

    assertEquals(1, fibers.size());
    runFibers();
    assertEquals(List.of("a", "b", "c"), ran.stream().sorted().toList());
  }

  /** Loses a fiber, as the JDK does while there is no memory. */
  @Test
  void aLostFetcherIsReplaced() {
    var relay = relay(fibers::add, 0);
    relay.enqueue(() -> ran.add("a"));
    fibers.clear();

    relay.enqueue(() -> ran.add("b"));

    runFibers();
    assertEquals(List.of("a", "b"), ran.stream().sorted().toList());
  }

  @Test
  void aFetcherThatIsLateAfterAllDoesNothing() {
    var relay = relay(fibers::add, 0);
    for (var task : List.of("a", "b")) relay.enqueue(() -> ran.add(task));

    assertEquals(2, fibers.size());
    runFibers();
    assertEquals(List.of("a", "b"), ran.stream().sorted().toList());
  }

  @Test
  void aTaskIsNotTakenWhereNoFetcherCanBeCalled() {
    var relay = relay(task -> {
      throw new RejectedExecutionException();
    }, Long.MAX_VALUE);

    assertThrows(RejectedExecutionException.class, () -> relay.enqueue(() -> ran.add("a")));
    assertThrows(RejectedExecutionException.class, () -> relay.enqueue(() -> ran.add("b")));

    assertEquals(List.of(), kept);
  }
}
