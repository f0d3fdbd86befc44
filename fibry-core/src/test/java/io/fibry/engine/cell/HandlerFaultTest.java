package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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

/** Tests handlers that throw exceptions and errors of all kinds. */
class HandlerFaultTest {
  private static final FailurePolicy RESUME = FailurePolicy.resume().withoutLog();
  private static final List<Supplier<Throwable>> FAULTS = List.of(
      IllegalStateException::new, IOException::new, AssertionError::new, NoClassDefFoundError::new,
      StackOverflowError::new, Error::new, InterruptedException::new,
      () -> new CompletionException(null), TimeoutException::new, Unprintable::new);

  /** An exception whose message and text cannot be read. */
  private static final class Unprintable extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message");
    }

    @Override
    public String toString() {
      throw new StackOverflowError("no text");
    }
  }

  /** A message whose toString throws. */
  private record UnprintableMessage() {
    @Override
    public String toString() {
      throw new StackOverflowError("no text");
    }
  }

  @SuppressWarnings("unchecked") // T is unchecked for the compiler, although the failure may be checked
  private static <T extends Throwable> int raise(Throwable failure) throws T {
    throw (T) failure;
  }

  static Stream<Variants.Variant> strategies() {
    return Variants.strategiesAlone();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void actorContinuesAfterAnyThrowableExceptOutOfMemoryError(Variants.Variant variant) {
    long seed = StressRuns.seed();
    System.out.println(variant + ": -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var scope = Variants.scope(o -> o);
    var actor = variant.builder(scope).onFailure(RESUME).newActorWithReturn(
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

  /**
   * Returns the failure without the JDK's wrapper, because on Java 21 the wrapper calls the
   * toString of the failure.
   */
  private static Throwable failure(CompletableFuture<Integer> request) {
    return Patience.value(request.handle((answer, failure) -> failure));
  }

  /**
   * Returns the received failure, or its cause if the received failure only wraps the thrown one.
   * The library wraps a CompletionException that a handler throws, because the JDK would unwrap it.
   */
  private static Throwable rootOf(Throwable received, Throwable thrown) {
    return received == thrown || received.getCause() == null ? received : received.getCause();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void actorContinuesWhenFailureCannotBeLogged(Variants.Variant variant) {
    try (var logged = new Logged()) {
      var scope = Variants.scope(o -> o);
      var actor = variant.builder(scope).newActorWithReturn(
          (Object message) -> message.equals("fine") ? 7 : HandlerFaultTest.<RuntimeException>raise(new Unprintable()));
      actor.sendMessage("bad");
      actor.sendMessage(new UnprintableMessage());

      assertInstanceOf(Unprintable.class, failure(actor.sendMessageReturn(new UnprintableMessage())));

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
      var queuedRequest = actor.sendMessageReturn("second");
      gate.open();

      Patience.awaitEnd(actor::waitForExit);

      assertInstanceOf(ActorStoppedException.class, Patience.failure(queuedRequest), logged::text);
      assertInstanceOf(OutOfMemoryError.class,
          assertInstanceOf(ExitReason.Failed.class, actor.onExit().join()).cause());
      assertFalse(actor.sendMessage("late"));
      Patience.awaitEnd(sender);
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void stackOverflowInHandlerFailsOnlyItsMessage(Variants.Variant variant) {
    var scope = Variants.scope(o -> o);
    var receiver = variant.builder(scope).onFailure(RESUME).newActorWithReturn((Object message) -> 1);
    var actor =
        variant.builder(scope).onFailure(RESUME)
            .newActorWithReturn((Object depth) -> descend((Integer) depth, receiver));

    int times = Soak.ON ? 500 : 6;
    for (int i = 0; i < times; i++) {
      var request = actor.sendMessageReturn(i * 2_000 / times);
      // the handler sends many messages, each of which may start a thread, so the limit counts from
      // the last progress
      Patience.progress(() -> scope.report().sent(), request::isDone);
      assertInstanceOf(StackOverflowError.class, Patience.failure(request));
    }

    var lastRequest = receiver.sendMessageReturn(0);
    Patience.progress(() -> scope.report().handled(), lastRequest::isDone);
    assertEquals(1, Patience.value(lastRequest));
    assertEquals(0, Patience.value(actor.sendMessageReturn(-1)));
    actor.close();
    receiver.close();
  }

  /** Recurses until the stack overflows, and sends at each depth from {@code firstDepth} on. */
  private static int descend(int firstDepth, Actor<Object> receiver) {
    if (firstDepth == -1) return 0;
    return firstDepth == 0 ? sendAndDescend(receiver) : 1 + descend(firstDepth - 1, receiver);
  }

  private static int sendAndDescend(Actor<Object> receiver) {
    receiver.sendMessage(1);
    return 1 + sendAndDescend(receiver);
  }

  @Test
  void stackOverflowInStopHookDoesNotPreventExit() {
    try (var logged = new Logged()) {
      var resourceClosed = new CountDownLatch(1);
      var actor =
          ActorSystem.anonymous().initialState(AtomicInteger::new).onStop(state -> descend(Integer.MAX_VALUE, null))
              .newActor((AtomicInteger state, Integer i) -> state.set(i)).closeOnExit(resourceClosed::countDown);
      actor.sendMessage(1);

      actor.close();

      assertEquals(0, resourceClosed.getCount(), logged.text());
      assertEquals(new ExitReason.Finished(), actor.onExit().join());
    }
  }

  /**
   * Building the text may call a method of a user, for which the library starts a thread, to limit
   * its time. So a request to an ended actor must not build the text.
   */
  @Test
  void stoppedExceptionBuildsTextOfExitReasonOnlyWhenRead() {
    var texts = new AtomicInteger();
    class CountedFailure extends IllegalStateException {
      private static final long serialVersionUID = 1;

      @Override
      public String toString() {
        texts.incrementAndGet();
        return "broken {request}";
      }
    }
    var actor = ActorSystem.anonymous().onFailure(FailurePolicy.stop().withoutLog()).newActorWithReturn((Integer n) -> {
      if (n == 0) throw new CountedFailure();
      return n;
    });
    actor.sendMessage(0);
    Patience.awaitEnd(actor::waitForExit);
    texts.set(0);

    var exception = actor.sendMessageReturn(1).handle((answer, failure) -> failure).join();

    assertEquals(0, texts.get());
    assertEquals(actor + " ended (Failed: broken {request}) and did not answer 1", exception.getMessage());
    assertEquals(exception.getMessage(), exception.getMessage());
    assertEquals(1, texts.get());
  }
}
