package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.DeadLetter.Reason;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Handlers that throw whatever can be thrown. */
class HandlerFaultTest {
  private static final FailurePolicy QUIET = FailurePolicy.resume().withoutLog();
  private static final List<Supplier<Throwable>> FAULTS = List.of(
      IllegalStateException::new, IOException::new, AssertionError::new, NoClassDefFoundError::new,
      StackOverflowError::new, Error::new, InterruptedException::new,
      () -> new CompletionException(null), TimeoutException::new, Unprintable::new);

  /** An exception without message and text. */
  private static final class Unprintable extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message either");
    }

    @Override
    public String toString() {
      throw new StackOverflowError("nor a text");
    }
  }

  /** A message whose text cannot be had. */
  private record Riddle() {
    @Override
    public String toString() {
      throw new StackOverflowError("no text");
    }
  }

  @SuppressWarnings("unchecked") // throws checked exceptions too
  private static <T extends Throwable> int raise(Throwable failure) throws T {
    throw (T) failure;
  }

  static Stream<Variants.Variant> strategies() {
    return Variants.strategiesAlone();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void actorContinuesAfterAnyThrowable(Variants.Variant variant) {
    long seed = StressHarness.seed();
    System.out.println(variant + ": -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var scope = Variants.scope(o -> o);
    var actor = variant.builder(scope).onFailure(QUIET).newActorWithReturn(
        (Object failure) -> failure instanceof Throwable thrown ? HandlerFaultTest.<RuntimeException>raise(thrown) : 7);
    int requests = 0;

    for (int i = 0; i < 300; i++) {
      var failure = FAULTS.get(random.nextInt(FAULTS.size())).get();
      if (random.nextBoolean()) actor.sendMessage(failure);
      else {
        requests++;
        assertSame(failure, rootOf(failure(actor.sendMessageReturn(failure)), failure));
      }
    }

    assertEquals(7, Patience.value(actor.sendMessageReturn("fine")));
    actor.close();
    assertEquals(300, scope.report().unhandled().get(Reason.FAILED));
    assertEquals(1, scope.report().handled(), requests + " requests");
  }

  /** The failure, unwrapped: the wrapper of Java 21 would ask for its text. */
  private static Throwable failure(CompletableFuture<Integer> request) {
    return Patience.value(request.handle((answer, failure) -> failure));
  }

  /** The JDK takes a CompletionException for a wrapper. */
  private static Throwable rootOf(Throwable seen, Throwable thrown) {
    return seen == thrown || seen.getCause() == null ? seen : seen.getCause();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void actorContinuesWhenFailureCannotBeLogged(Variants.Variant variant) {
    try (var logged = new Logged()) {
      var scope = Variants.scope(o -> o);
      var actor = variant.builder(scope).newActorWithReturn(
          (Object message) -> message.equals("fine") ? 7 : HandlerFaultTest.<RuntimeException>raise(new Unprintable()));
      actor.sendMessage("bad");
      actor.sendMessage(new Riddle());

      assertInstanceOf(Unprintable.class, failure(actor.sendMessageReturn(new Riddle())));

      assertEquals(7, Patience.value(actor.sendMessageReturn("fine")));
      actor.close();
      assertEquals(3, scope.report().unhandled().get(Reason.FAILED));
      assertEquals(1, scope.report().handled(), logged.text());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void outOfMemoryErrorStopsActorAndFailsRequests(Variants.Variant variant) {
    try (var logged = new Logged()) {
      var gate = new Gate();
      var actor = variant.builder(Variants.scope(o -> o)).newActorWithReturn((Object message) -> {
        gate.pass();
        throw new OutOfMemoryError("not really");
      });
      var sender = Patience.startFiber(() -> actor.sendMessage("first"));
      Patience.await(gate.entered);
      var waiting = actor.sendMessageReturn("second");
      gate.open();

      Patience.ended(actor::waitForExit);

      assertInstanceOf(ActorStoppedException.class, Patience.failure(waiting), logged::text);
      assertInstanceOf(OutOfMemoryError.class,
          assertInstanceOf(ExitReason.Failed.class, actor.onExit().join()).cause());
      assertFalse(actor.sendMessage("late"));
      Patience.joined(sender);
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void stackOverflowInHandlerFailsOnlyItsMessage(Variants.Variant variant) {
    var scope = Variants.scope(o -> o);
    var other = variant.builder(scope).onFailure(QUIET).newActorWithReturn((Object depth) -> 1);
    var actor =
        variant.builder(scope).onFailure(QUIET).newActorWithReturn((Object depth) -> descend((Integer) depth, other));

    int times = Soak.ON ? 500 : 6;
    for (int i = 0; i < times; i++) {
      var request = actor.sendMessageReturn(i * 2_000 / times);
      // it sends many messages, each of which may start a thread
      Patience.progress(() -> scope.report().sent(), request::isDone);
      assertInstanceOf(StackOverflowError.class, Patience.failure(request));
    }

    var last = other.sendMessageReturn(0);
    Patience.progress(() -> scope.report().handled(), last::isDone);
    assertEquals(1, Patience.value(last));
    assertEquals(0, Patience.value(actor.sendMessageReturn(-1)));
    actor.close();
    other.close();
  }

  /** Recurses until the stack overflows, and sends at each depth from {@code from} on. */
  private static int descend(int from, Actor<Object> other) {
    if (from == -1) return 0;
    return from == 0 ? sendAndDescend(other) : 1 + descend(from - 1, other);
  }

  private static int sendAndDescend(Actor<Object> other) {
    other.sendMessage(1);
    return 1 + sendAndDescend(other);
  }

  @Test
  void stackOverflowInStopHookDoesNotPreventExit() {
    try (var logged = new Logged()) {
      var closed = new CountDownLatch(1);
      var actor =
          ActorSystem.anonymous().initialState(AtomicInteger::new).onStop(state -> descend(Integer.MAX_VALUE, null))
              .newActor((AtomicInteger state, Integer i) -> state.set(i)).closeOnExit(closed::countDown);
      actor.sendMessage(1);

      actor.close();

      assertEquals(0, closed.getCount(), logged.text());
      assertEquals(new ExitReason.Finished(), actor.onExit().join());
    }
  }

  /** It would cost each request that comes too late a thread. */
  @Test
  void refusalTextIsBuiltOnlyWhenRead() {
    var texts = new AtomicInteger();
    class Counted extends IllegalStateException {
      private static final long serialVersionUID = 1;

      @Override
      public String toString() {
        texts.incrementAndGet();
        return "broken {request}";
      }
    }
    var actor = ActorSystem.anonymous().onFailure(FailurePolicy.stop().withoutLog()).newActorWithReturn((Integer n) -> {
      if (n == 0) throw new Counted();
      return n;
    });
    actor.sendMessage(0);
    Patience.ended(actor::waitForExit);
    texts.set(0);

    var late = actor.sendMessageReturn(1).handle((none, failure) -> failure).join();

    assertEquals(0, texts.get());
    assertEquals(actor + " ended (Failed: broken {request}) and did not answer 1", late.getMessage());
    assertEquals(late.getMessage(), late.getMessage());
    assertEquals(1, texts.get());
  }
}
