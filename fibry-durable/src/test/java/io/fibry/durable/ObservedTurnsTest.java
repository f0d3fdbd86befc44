package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ContextPropagator;
import io.fibry.Request;
import io.fibry.durable.FlakyStore.WriteFault;
import io.fibry.store.MemoryStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that context propagators observe the steps and the commits of turns. */
class ObservedTurnsTest {
  sealed interface Message {}

  record Add(String item) implements Message {}

  record Read() implements Message, Request<Read, String> {}

  /** Records the steps and their ends. The step of a thread is open until it is closed. */
  private static final class Observer implements ContextPropagator<Object> {
    final List<String> calls = new CopyOnWriteArrayList<>();
    final List<HandlerStep> steps = new CopyOnWriteArrayList<>();
    final ThreadLocal<String> open = new ThreadLocal<>();

    @Override
    public Object capture() {
      return null;
    }

    @Override
    public AutoCloseable restore(Object captured) {
      throw new AssertionError("nothing was captured");
    }

    @Override
    public StepObservation beginStep(HandlerStep step) {
      steps.add(step);
      open.set(step.name());
      String text = step.kind() + " " + step.name();
      return new StepObservation() {
        @Override
        public void ended(String outcome, Optional<Throwable> failure) {
          calls.add(text + " " + outcome + failure.map(it -> " " + it.getClass().getSimpleName()).orElse(""));
        }

        @Override
        public void close() {
          open.remove();
        }
      };
    }
  }

  private final Observer observer = new Observer();
  private final ActorScope scope =
      ActorSystem.openScope("observed-turns", options -> options.withContextPropagator(observer));
  private final FlakyStore flaky = new FlakyStore(StoreBackend.of(MemoryStore.open()), new Random(0));
  private final ConcurrentLinkedQueue<WriteFault> faultsOfCommits = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<WriteFault> faultsOfSleeps = new ConcurrentLinkedQueue<>();
  private final List<String> openInStep = new CopyOnWriteArrayList<>();

  private final Durable<Message> lists =
      Durable.kind("list", Message.class).storeMessages(9).state("").handler((items, message, context) -> {
        if (message instanceof Read read) context.reply(read, items);
        if (!(message instanceof Add add)) return items;
        String item = context.step("buy", String.class, () -> {
          openInStep.add(observer.open.get());
          if (add.item().equals("bad")) throw new IllegalStateException("sold out");
          return add.item();
        });
        assertNull(observer.open.get());
        if (item.equals("late")) {
          var faultOfSleep = faultsOfSleeps.poll();
          if (faultOfSleep != null) flaky.failNext("append", faultOfSleep);
          context.sleep("wait", Duration.ZERO);
          assertNull(observer.open.get());
        }
        var fault = faultsOfCommits.poll();
        if (fault != null) flaky.failNext("append", fault);
        return items + item;
      });

  @AfterEach
  void close() {
    scope.close();
  }

  /** Adds the items, and returns the list when the expected number of steps have ended. */
  private String add(int steps, String... items) {
    try (var entities = lists.entities(scope.anonymous(), flaky.asStore(), Duration.ofDays(1))) {
      for (var item : items) entities.actor("ada").sendMessage(new Add(item));
      Patience.eventually(() -> observer.calls.size() == steps);
      return entities.actor("ada").ask(new Read(), Patience.LONG);
    }
  }

  @Test
  void stepsAndCommitsOfTurnsAreObserved() {
    assertEquals("ab", add(4, "a", "b"));

    assertEquals(List.of("DURABLE_STEP buy stored", "COMMIT list stored", "DURABLE_STEP buy stored",
        "COMMIT list stored"), observer.calls.subList(0, 4));
    assertEquals(List.of("buy", "buy"), openInStep);
    assertEquals(Map.of("fibry.actor.kind", "list", "fibry.actor.key", "ada"), observer.steps.getFirst().attributes());
    assertEquals(Map.of(), observer.steps.getFirst().senderTexts());
  }

  @Test
  void turnWithoutEffectHasNoCommit() {
    var readers = Durable.kind("reader", Message.class).state("none").handler((state, message, context) -> {
      context.reply((Read) message, state);
      return state;
    });
    try (var entities = readers.entities(scope.anonymous(), flaky.asStore(), Duration.ofDays(1))) {
      assertEquals("none", entities.actor("ada").ask(new Read(), Patience.LONG));
    }

    assertEquals(List.of(), observer.calls);
  }

  @Test
  void failedStepHasFailureOfItsCode() {
    assertEquals("", add(1, "bad"));

    assertEquals("DURABLE_STEP buy failed IllegalStateException", observer.calls.getFirst());
  }

  @Test
  void refusedTurnEndsCommitAndReplaysStepUnobserved() {
    faultsOfCommits.add(WriteFault.REFUSED);

    assertEquals("a", add(3, "a"));

    assertEquals(List.of("DURABLE_STEP buy stored", "COMMIT list failed StoreWriteException", "COMMIT list stored"),
        observer.calls.subList(0, 3));
    assertEquals(1, openInStep.size());
  }

  @Test
  void sleepFailsIfItsEndIsNotStored() {
    faultsOfSleeps.add(WriteFault.REFUSED);

    assertEquals("late", add(4, "late"));

    assertEquals(List.of("DURABLE_STEP buy stored", "DURABLE_STEP wait failed StoreWriteException",
        "DURABLE_STEP wait stored", "COMMIT list stored"), observer.calls.subList(0, 4));
  }
}
