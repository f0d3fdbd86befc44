package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests sinks, which make an actor of any object. */
class SinkTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final Sink<List<Object>> sink = scope.named("list").onFailure(FailurePolicy.resume().withoutLog())
      .initialState(() -> (List<Object>) new ArrayList<Object>()).newSink();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void sinkRunsCodeOnItsObjectInOrder(Variants.Variant variant) {
    if (variant.isPriority()) return;
    Sink<StringBuilder> text = variant.builder(scope).initialState(StringBuilder::new).newSink();

    assertTrue(text.execAsync(s -> s.append("a")));
    text.execAndWait(s -> s.append("b"));
    text.execute(() -> {});
    var length = text.execFuture(StringBuilder::length);

    assertEquals("ab", text.ask(StringBuilder::toString));
    assertEquals("ab", text.ask(StringBuilder::toString, Patience.LONG));
    assertEquals(2, Patience.value(length));
    text.close();
  }

  @Test
  void execAndWaitThrowsExceptionOfCode() {
    var failure = new IOException("disk");

    assertSame(failure, assertThrows(IOException.class, () -> sink.execAndWait(s -> {
      throw failure;
    })));
  }

  @Test
  void execAndWaitReturnsAfterCodeHasRun() {
    var calls = new ArrayList<String>();

    sink.execAndWait(s -> calls.add("called"));

    assertEquals(List.of("called"), calls);
  }

  @Test
  void execAndWaitHasNoLimit() {
    var gate = Gate.occupy(sink);
    var done = new CompletableFuture<Boolean>();
    Patience.awaitParked(Patience.startFiber(() -> {
      sink.execAndWait(s -> {});
      done.complete(true);
    }));

    clock.advance(Duration.ofDays(1));
    boolean doneEarly = done.isDone();
    gate.open();

    assertFalse(doneEarly);
    assertTrue(Patience.value(done));
  }

  @Test
  void askTimesOutAtLimitOfScope() {
    Gate.occupy(sink);
    var failure = new CompletableFuture<Throwable>();
    Patience.awaitParked(Patience.startFiber(() -> assertThrows(Throwable.class, () -> sink.ask(List::size)), failure));

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(30));
      return failure.isDone();
    });

    assertInstanceOf(AskTimeoutException.class, Patience.value(failure));
  }

  @Test
  void throwingAsyncCodeBecomesDeadLetter() {
    Handler<List<Object>> failingCode = s -> {
      throw new IOException("disk");
    };

    sink.execAsync(failingCode);
    sink.close();

    assertEquals(List.of(failingCode), letters.messages(Reason.FAILED));
  }

  @Test
  void nullAnswerFailsAskWithHintAtOptional() {
    var failure = assertThrows(NullPointerException.class, () -> sink.ask(s -> null));

    for (String word : new String[] {"list", "null", "Optional"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Test
  void endedSinkRefusesAllCode() {
    sink.close();

    assertFalse(sink.execAsync(s -> {}));
    assertThrows(ActorStoppedException.class, () -> sink.execAndWait(s -> {}));
    assertThrows(ActorStoppedException.class, () -> sink.ask(List::size));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(sink.execFuture(List::size)));
    assertThrows(RejectedExecutionException.class, () -> sink.execute(() -> {}));
  }

  @Test
  void sinkWaitingForItselfGetsCycleException() {
    assertInstanceOf(AskCycleException.class,
        sink.ask(s -> assertThrows(AskCycleException.class, () -> sink.execAndWait(t -> {}))));
  }

  @Test
  void sinkWithoutStatePassesNullToCode() {
    Sink<Void> statelessSink = scope.anonymous().newSink();

    statelessSink.execAndWait(s -> assertNull(s));
  }

  // ---- sinks of a given object

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void sinkPassesGivenObjectToCode(Variants.Variant variant) {
    if (variant.isPriority()) return;
    var object = new StringBuilder();
    Sink<StringBuilder> text = variant.builder(scope).newSink(object);

    text.execAsync(s -> s.append("a"));
    text.execAndWait(s -> s.append("b"));

    assertSame(object, text.ask(s -> s));
    assertEquals("ab", object.toString());
    text.close();
  }

  @Test
  void restartedSinkKeepsItsObject() {
    var object = new StringBuilder("a");
    var text = scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()).newSink(object);

    text.execAsync(s -> {
      throw new IllegalStateException("thrown by a test");
    });

    assertSame(object, text.ask(s -> s));
  }

  @Test
  void restartedSinkOfPoolKeepsItsObject() {
    var object = new StringBuilder("a");
    var text = Pools.fixed(scope.anonymous().onFailure(FailurePolicy.restart().withoutLog()), 1).newSink(object);

    text.execAsync(s -> {
      throw new IllegalStateException("thrown by a test");
    });

    assertSame(object, text.ask(s -> s));
  }

  @Test
  void sinksOfStatefulBuilderHaveTheirOwnStates() {
    var builder = scope.anonymous().initialState(StringBuilder::new);
    var first = builder.newSink();
    var second = builder.newSink();

    first.execAndWait(s -> s.append("a"));

    assertEquals("a", first.ask(StringBuilder::toString));
    assertEquals("", second.ask(StringBuilder::toString));
  }

  /** A builder reuses the behavior of its last sink until its settings change. */
  @Test
  void interceptorAppliesOnlyToSinksOfItsBuilder() {
    var builder = scope.anonymous();
    var plain = builder.newSink(new StringBuilder());
    var intercepted = new ArrayList<Object>();
    var changed = builder.intercept((message, next) -> {
      intercepted.add(message);
      next.run();
    }).newSink(new StringBuilder());

    changed.execAndWait(s -> s.append("a"));
    plain.execAndWait(s -> s.append("b"));
    builder.newSink(new StringBuilder()).execAndWait(s -> s.append("c"));

    assertEquals(1, intercepted.size());
  }

  @Test
  void codeOfSinkWithObjectRunsThroughInterceptor() {
    var intercepted = new ArrayList<Object>();
    var text = scope.anonymous().intercept((message, next) -> {
      intercepted.add(message);
      next.run();
    }).newSink(new StringBuilder("a"));

    assertEquals("a", text.ask(StringBuilder::toString));
    assertEquals(1, intercepted.size());
  }

  @Test
  void endedSinkReleasesGivenObject() {
    var sinks = new ArrayList<Sink<StringBuilder>>();
    var objects = new ArrayList<WeakReference<StringBuilder>>();
    for (int i = 0; i < 3; i++) {
      var object = new StringBuilder();
      objects.add(new WeakReference<>(object));
      sinks.add(scope.anonymous().newSink(object));
    }

    sinks.get(0).close(); // idle and without a message
    sinks.get(1).ask(StringBuilder::length);
    sinks.get(1).close();
    sinks.get(2).execAsync(s -> s.append("a"));
    sinks.get(2).kill();
    sinks.get(2).waitForExit();

    Patience.eventually("an ended sink keeps its object", () -> {
      System.gc();
      return objects.stream().allMatch(object -> object.refersTo(null));
    });
  }

  @Test
  void sinkWithPriorityMailboxIsRefused() {
    var builder = scope.anonymous().mailbox(Mailbox.<Object>priority((a, b) -> 0));

    var refusal = assertThrows(IllegalArgumentException.class, builder::newSink);

    assertTrue(refusal.getMessage().contains("priority") && refusal.getMessage().contains("another mailbox"),
        refusal.getMessage());
  }
}
