package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FibryMetricsTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private double count(String outcome) {
    return registry.get("fibry.messages").tags("scope", "test", "outcome", outcome).functionCounter().count();
  }

  @Test
  void messagesAreCountedByTheirOutcome() throws Exception {
    try (var scope = TestScope.fibers()) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
          .mailbox(Mailbox.bounded(2, Overflow.REJECT)).newActor((String message) -> {
            entered.countDown();
            gate.await();
            if (message.equals("fails")) throw new IllegalStateException("on purpose");
          });
      try {
        actor.sendMessage("first");
        Patience.await(entered);
        for (var message : List.of("fails", "handled", "rejected")) actor.sendMessage(message);
      } finally {
        gate.countDown();
      }
      scope.assertQuiet();

      new ScopeMeters(scope).bindTo(registry);

      assertEquals(2, count("handled"));
      assertEquals(1, count("failed"));
      assertEquals(1, count("rejected"));
      assertEquals(0, count("dropped"));
      assertEquals(0, registry.get("fibry.messages.waiting").tag("scope", "test").gauge().value());
    }
  }

  private double deadLetters(String reason) {
    return registry.get("fibry.dead.letters").tags("scope", "test", "reason", reason).functionCounter().count();
  }

  private double lastDeadLetter() {
    return registry.get("fibry.dead.letters.last.timestamp").tag("scope", "test").timeGauge().value(TimeUnit.SECONDS);
  }

  /** A failed request is no dead letter, because its asker knows of the failure. */
  @Test
  void deadLettersAreCountedWithTimeOfLastOne() {
    try (var scope = TestScope.fibers()) {
      var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
          .newActorWithReturn((String message) -> {
            throw new IllegalStateException("on purpose");
          });
      try (var before = new ScopeMeters(scope)) {
        before.bindTo(registry);
        assertEquals(List.of(0.0, 0.0), List.of(deadLetters("failed"), lastDeadLetter()));
      }
      assertThrows(IllegalStateException.class, () -> actor.ask("request"));
      for (int i = 0; i < 2; i++) actor.sendMessage("lost");
      scope.assertQuiet();
      double time = scope.clock().instant().toEpochMilli() / 1e3;

      new ScopeMeters(scope).bindTo(registry);

      assertEquals(List.of(2.0, 3.0, 0.0), List.of(deadLetters("failed"), count("failed"), deadLetters("rejected")));
      assertEquals(time, lastDeadLetter());
    }
  }

  @Test
  void everyDeadLetterReasonHasCounter() {
    try (var scope = TestScope.fibers()) {
      new ScopeMeters(scope).bindTo(registry);

      var outcomes = registry.get("fibry.messages").meters().stream().map(meter -> meter.getId().getTag("outcome"))
          .collect(Collectors.toSet());

      assertEquals(Stream.concat(Stream.of("handled"),
          Stream.of(DeadLetter.Reason.values()).map(reason -> reason.name().toLowerCase())).collect(Collectors.toSet()),
          outcomes);
    }
  }

  @Test
  void gaugeShowsWaitingMessages() throws Exception {
    try (var scope = TestScope.fibers()) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      var actor = scope.anonymous().newActor((Integer n) -> {
        entered.countDown();
        gate.await();
      });
      try {
        for (int i = 0; i < 4; i++) actor.sendMessage(i);
        Patience.await(entered);
        new ScopeMeters(scope).bindTo(registry);

        assertEquals(3, registry.get("fibry.messages.waiting").gauge().value());
      } finally {
        gate.countDown();
      }
    }
  }

  @Test
  void messagesOfInnerScopesAreCounted() {
    try (var scope = TestScope.fibers()) {
      scope.openScope("inner").anonymous().newActorWithReturn((Integer n) -> n).ask(1);
      scope.assertQuiet();

      new ScopeMeters(scope).bindTo(registry);

      assertEquals(1, count("handled"));
    }
  }

  /**
   * The counts must remain when the scope is garbage. A gauge would refer to the scope, so a filter
   * prevents the gauge.
   */
  @Test
  void countsRemainAfterScopeAndItsMetersAreGarbageCollected() {
    registry.config().meterFilter(MeterFilter.denyNameStartsWith("fibry.messages.waiting"));
    bindAndForget();

    for (int i = 0; i < 5; i++) System.gc();

    assertEquals(1, count("handled"));
  }

  private void bindAndForget() {
    try (var scope = ActorSystem.openScope("test")) {
      new ScopeMeters(scope).bindTo(registry);
      scope.anonymous().newActorWithReturn((Integer n) -> n).ask(1);
    }
  }

  @Test
  void closeRemovesMeters() {
    try (var scope = TestScope.fibers()) {
      var otherRegistry = new SimpleMeterRegistry();
      var metrics = new ScopeMeters(scope);
      metrics.bindTo(registry);
      metrics.bindTo(otherRegistry);
      assertNotNull(registry.find("fibry.messages").meter());

      metrics.close();

      assertEquals(List.of(), registry.getMeters());
      assertEquals(List.of(), otherRegistry.getMeters());
    }
  }

  @Test
  void metersBeginAtZeroForNewScopeOfSameName() {
    for (int round = 0; round < 2; round++) {
      try (var scope = TestScope.fibers(); var metrics = new ScopeMeters(scope)) {
        metrics.bindTo(registry);
        scope.anonymous().newActorWithReturn((Integer n) -> n).ask(1);
        scope.assertQuiet();

        assertEquals(1, count("handled"));
      }
    }
  }

  @Test
  void tagsSeparateScopesOfSameName() {
    var scopes = new ArrayList<ActorScope>();
    for (var floor : List.of("one", "two")) {
      var scope = ActorSystem.openScope("test");
      scopes.add(scope);
      new ScopeMeters(scope, Tags.of("floor", floor)).bindTo(registry);
    }

    var floors = registry.get("fibry.messages").tag("outcome", "handled").meters().stream()
        .map(meter -> meter.getId().getTag("floor")).collect(Collectors.toSet());

    assertEquals(Set.of("one", "two"), floors);
    assertTrue(registry.get("fibry.messages.waiting").meters().size() == 2);
    scopes.forEach(ActorScope::close);
  }
}
