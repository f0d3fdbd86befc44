package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ContextPropagator;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordingPropagator;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a failed context propagator affects neither its message nor other propagators. */
class BaggageFaultTest {
  /** The call at which the propagator fails. */
  enum FailingCall { CAPTURE, SET, CLOSE }

  /** A context propagator that always fails at one of its calls. */
  private record FailingPropagator(FailingCall failingCall, Throwable failure) implements ContextPropagator<String> {
    @Override
    public String capture() {
      fail(FailingCall.CAPTURE);
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      fail(FailingCall.SET);
      return () -> fail(FailingCall.CLOSE);
    }

    private void fail(FailingCall call) {
      if (failingCall == call) throw FailingPropagator.<RuntimeException>uncheckedThrow(failure);
    }

    @SuppressWarnings("unchecked") // the unchecked cast lets a checked exception be thrown without a declaration
    private static <T extends Throwable> T uncheckedThrow(Throwable failure) throws T {
      throw (T) failure;
    }
  }

  private final RecordingPropagator firstPropagator = new RecordingPropagator("first");
  private final RecordingPropagator lastPropagator = new RecordingPropagator("last");
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorScope scopeWith(ContextPropagator<?> propagator) {
    return Variants.scope(o -> o.withContextPropagator(firstPropagator).withContextPropagator(propagator)
        .withContextPropagator(lastPropagator));
  }

  private void send(Actor<Object> actor, Object message) {
    firstPropagator.runWith("alice", () -> lastPropagator.runWith("acme", () -> actor.sendMessage(message)));
  }

  private Actor<Object> recordingActor(ActorBuilder<Object> builder) {
    return builder.newActor((Object message) -> {
      received.add(message + " " + firstPropagator.get() + " " + lastPropagator.get());
    });
  }

  @Promise("14.6")
  @ParameterizedTest
  @EnumSource
  void failedPropagatorAffectsNoMessageAndNoOtherPropagator(FailingCall failingCall) {
    var propagator = new FailingPropagator(failingCall, new IllegalStateException("broken propagator"));
    var actor = recordingActor(scopeWith(propagator).anonymous());

    try (var log = new Logged()) {
      send(actor, "message");
      actor.close();
      assertEquals(1, occurrences(log.text(), "the context of a message"), log::text);
    }

    assertEquals(List.of("message alice acme"), received);
    assertEquals(List.of("set first", "closed first"), firstPropagator.calls);
    assertEquals(List.of("set last", "closed last"), lastPropagator.calls);
  }

  private static int occurrences(String text, String part) {
    return text.split(part, -1).length - 1;
  }

  @Promise("14.6")
  @ParameterizedTest
  @EnumSource
  void errorOfPropagatorAffectsNoMessage(FailingCall failingCall) {
    for (var failure : List.of(new StackOverflowError("of a propagator"), new OutOfMemoryError("of a propagator"),
        new InterruptedException("of a propagator"))) {
      var scope = scopeWith(new FailingPropagator(failingCall, failure));
      var actor = scope.anonymous().newActorWithReturn((Object message) -> message + " handled");

      try (var log = new Logged()) {
        assertEquals("1 handled", actor.ask(1), log::text);
        assertEquals("2 handled", actor.ask(2), log::text);
      }
      actor.close();
      assertEquals(2, scope.report().handled());
    }
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void interruptSetByPropagatorReachesNoHandler(Variant variant) {
    // the engine clears the interrupt flag of the library's own threads only
    if (!variant.usesLibraryThreads()) return;
    var scope = Variants.scope(o -> o.withContextPropagator(new InterruptingPropagator()));
    var actor = variant.builder(scope).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else received.add(Thread.currentThread().isInterrupted());
    });
    var gate = Gate.occupy(actor);

    actor.sendMessage("1");
    actor.sendMessage("2");
    gate.open();
    actor.close();

    assertEquals(List.of(false, false), received);
  }

  private static final class InterruptingPropagator implements ContextPropagator<String> {
    @Override
    public String capture() {
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      return () -> Thread.currentThread().interrupt();
    }
  }

  private record BlockingPropagator(Gate gate) implements ContextPropagator<String> {
    @Override
    public String capture() {
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      gate.passUninterruptibly();
      return () -> {};
    }
  }

  @Promise("14.6")
  @Test
  void requestFailsWhenActorIsCutOffInBlockedPropagator() {
    var gate = new Gate();
    var scope = Variants.scope(o -> o.withContextPropagator(new BlockingPropagator(gate)).withKillGrace(Duration.ZERO));
    var actor = scope.anonymous().newActorWithReturn((String message) -> message);
    var request = actor.sendMessageReturn("request");
    Patience.await(gate.entered);

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  /**
   * The sender recurses until its stack is full, and sends at every depth. Each send calls the
   * propagator.
   */
  @Promise("14.6")
  @Test
  void acceptedMessagesAreHandledAfterStackOverflowInCapture() {
    var handled = new AtomicInteger();
    var scope = Variants.scope(o -> o.withContextPropagator(firstPropagator));
    var actor = scope.anonymous().newActor((Integer message) -> handled.incrementAndGet());
    var accepted = new AtomicInteger();

    Patience.awaitEnd(Thread.ofPlatform().daemon()
        .start(() -> firstPropagator.runWith("alice",
            () -> assertThrows(StackOverflowError.class, () -> sendAtEveryDepth(actor, accepted)))));
    actor.close();

    assertTrue(accepted.get() > 0 && handled.get() >= accepted.get(),
        () -> accepted + " accepted, " + handled + " handled");
    assertEquals(handled.get(), scope.report().handled());
  }

  private static void sendAtEveryDepth(Actor<Integer> actor, AtomicInteger accepted) {
    if (actor.sendMessage(1)) accepted.incrementAndGet();
    sendAtEveryDepth(actor, accepted);
  }
}
