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
import io.fibry.CountingPropagator;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.Variants.Variant;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A message is handled whatever its carrier does wrong, and other carriers do not notice. */
class BaggageFaultTest {
  /** Where the carrier fails. */
  enum Where { CAPTURE, SET, CLOSE }

  /** Fails at one place, every time. */
  private record Broken(Where where, Throwable failure) implements ContextPropagator<String> {
    @Override
    public String capture() {
      fail(Where.CAPTURE);
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      fail(Where.SET);
      return () -> fail(Where.CLOSE);
    }

    private void fail(Where here) {
      if (where == here) throw Broken.<RuntimeException>sneak(failure);
    }

    @SuppressWarnings("unchecked") // throws a checked exception as itself
    private static <T extends Throwable> T sneak(Throwable failure) throws T {
      throw (T) failure;
    }
  }

  private final CountingPropagator first = new CountingPropagator("first");
  private final CountingPropagator last = new CountingPropagator("last");
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorScope scopeWith(ContextPropagator<?> between) {
    return Variants
        .scope(o -> o.withContextPropagator(first).withContextPropagator(between).withContextPropagator(last));
  }

  private void send(Actor<Object> actor, Object message) {
    first.with("alice", () -> last.with("acme", () -> actor.sendMessage(message)));
  }

  private Actor<Object> noting(ActorBuilder<Object> builder) {
    return builder.newActor((Object message) -> {
      seen.add(message + " " + first.get() + " " + last.get());
    });
  }

  @Promise("14.6")
  @ParameterizedTest
  @EnumSource
  void brokenCarrierHarmsNeitherMessageNorOtherCarriers(Where where) {
    var actor = noting(scopeWith(new Broken(where, new IllegalStateException("broken carrier"))).anonymous());

    try (var logged = new Logged()) {
      send(actor, "message");
      actor.close();
      assertEquals(1, occurrences(logged.text(), "takes along"), logged::text);
    }

    assertEquals(List.of("message alice acme"), seen);
    assertEquals(List.of("set first", "closed first"), first.steps);
    assertEquals(List.of("set last", "closed last"), last.steps);
  }

  private static int occurrences(String text, String part) {
    return text.split(part, -1).length - 1;
  }

  @Promise("14.6")
  @ParameterizedTest
  @EnumSource
  void carrierThatThrowsErrorOrCheckedExceptionHarmsNoMessage(Where where) {
    for (var failure : List.of(new StackOverflowError("of a carrier"), new OutOfMemoryError("of a carrier"),
        new InterruptedException("of a carrier"))) {
      var scope = scopeWith(new Broken(where, failure));
      var actor = scope.anonymous().newActorWithReturn((Object message) -> message + " handled");

      try (var logged = new Logged()) {
        assertEquals("1 handled", actor.ask(1), logged::text);
        assertEquals("2 handled", actor.ask(2), logged::text);
      }
      actor.close();
      assertEquals(2, scope.report().handled());
    }
  }

  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void interruptByCarrierCloseReachesNoOtherMessageOnOwnThreads(Variant variant) {
    if (!variant.own()) return; // foreign threads are not interrupted
    var scope = Variants.scope(o -> o.withContextPropagator(new Interrupting()));
    var actor = variant.builder(scope).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else seen.add(Thread.currentThread().isInterrupted());
    });
    var gate = Gate.occupy(actor);

    actor.sendMessage("1");
    actor.sendMessage("2");
    gate.open();
    actor.close();

    assertEquals(List.of(false, false), seen);
  }

  private static final class Interrupting implements ContextPropagator<String> {
    @Override
    public String capture() {
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      return () -> Thread.currentThread().interrupt();
    }
  }

  private record Blocking(Gate gate) implements ContextPropagator<String> {
    @Override
    public String capture() {
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      gate.passDeaf();
      return () -> {};
    }
  }

  @Promise("14.6")
  @Test
  void requestFailsWhenActorIsCutOffWhileCarrierBlocks() {
    var gate = new Gate();
    var scope = Variants.scope(o -> o.withContextPropagator(new Blocking(gate)).withKillGrace(Duration.ZERO));
    var actor = scope.anonymous().newActorWithReturn((String message) -> message);
    var request = actor.sendMessageReturn("request");
    Patience.await(gate.entered);

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  /** Sends recurse until the stack is full; the carrier runs at every depth. */
  @Promise("14.6")
  @Test
  void anOverflowInsideACaptureHarmsNoReceiver() {
    var handled = new AtomicInteger();
    var scope = Variants.scope(o -> o.withContextPropagator(first));
    var actor = scope.anonymous().newActor((Integer message) -> handled.incrementAndGet());
    var taken = new AtomicInteger();

    Patience.joined(Thread.ofPlatform().daemon()
        .start(() -> first.with("alice", () -> assertThrows(StackOverflowError.class, () -> deeper(actor, taken)))));
    actor.close();

    assertTrue(taken.get() > 0 && handled.get() >= taken.get(), () -> taken + " taken, " + handled + " handled");
    assertEquals(handled.get(), scope.report().handled());
  }

  private static void deeper(Actor<Integer> actor, AtomicInteger taken) {
    if (actor.sendMessage(1)) taken.incrementAndGet();
    deeper(actor, taken);
  }
}
