package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.ContextPropagator;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Tests that context propagators observe the work of queues. */
class ObservedWorkTest {
  record Mail(String address) {}

  /** Records the pieces and their ends. The attempt of a piece is open until it is closed. */
  private static final class Observer implements ContextPropagator<Object> {
    final List<String> calls = new CopyOnWriteArrayList<>();
    final ThreadLocal<Object> attempt = new ThreadLocal<>();

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
      assertEquals(Map.of(), step.senderTexts());
      attempt.set(step.attributes().get("fibry.work.attempt"));
      return new StepObservation() {
        @Override
        public void ended(String outcome, Optional<Throwable> failure) {
          calls.add(step.kind() + " " + step.name() + " " + outcome + failure.map(it -> " " + it.getMessage())
              .orElse(""));
        }

        @Override
        public void close() {
          attempt.remove();
        }
      };
    }
  }

  @Test
  void eachAttemptAtPieceIsObserved() {
    var observer = new Observer();
    var attempts = new CopyOnWriteArrayList<Object>();
    try (var scope = ActorSystem.openScope("observed-work", options -> options.withContextPropagator(observer));
        var node = Cluster.join("shop", MemoryNetwork.create(), options -> options.withScope(scope))) {
      var mails = node.queue("mails", Mail.class);
      mails.consume(options -> options.withMaxAttempts(2).withBackoff(Duration.ofMillis(1), Duration.ofMillis(1)),
          mail -> {
            attempts.add(observer.attempt.get());
            if (mail.address().equals("bad")) throw new IllegalStateException("no such address");
          });

      mails.put(new Mail("ada"));
      Patience.eventually(() -> observer.calls.size() == 1);
      mails.put(new Mail("bad"));
      Patience.eventually(() -> observer.calls.size() == 3);
    }

    assertEquals(List.of("QUEUE_WORK mails done", "QUEUE_WORK mails retried no such address",
        "QUEUE_WORK mails parked no such address"), observer.calls);
    assertEquals(List.of(1L, 1L, 2L), attempts);
  }
}
