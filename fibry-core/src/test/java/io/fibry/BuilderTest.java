package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

class BuilderTest {
  record Get() implements Request<Get, String> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @Test
  void builderMethodsLeaveTheirBuilderUnchanged() {
    var originalBuilder = scope.named("plain");

    originalBuilder.strategy(Strategy.THREAD);
    originalBuilder.mailbox(Mailbox.bounded(3, Overflow.REJECT));
    BlockBuilder.of(originalBuilder).child("one");
    originalBuilder.intercept((Object m, Handler.Task next) -> log.add(m));
    originalBuilder.protocol(String.class);

    assertSame(Strategy.FIBER, BlockBuilder.of(originalBuilder).strategy());
    assertSame(Mailbox.unbounded(), BlockBuilder.of(originalBuilder).mailbox());
    assertEquals(Optional.of("plain"), BlockBuilder.of(originalBuilder).name());
    var actor = originalBuilder.newActorWithReturn((Object m) -> m);
    assertEquals("x", actor.ask("x"));
    assertEquals(List.of(), log);
    assertThrows(IllegalStateException.class, () -> scope.find("plain", String.class));
  }

  @Test
  void builderMethodsCalledAfterInitialStateTakeEffect() {
    var events = new CopyOnWriteArrayList<Object>();
    var actor = scope.named("late").initialState(() -> new int[1]).strategy(Strategy.THREAD)
        .mailbox(Mailbox.bounded(3, Overflow.REJECT)).onFailure(FailurePolicy.restart().withoutLog())
        .protocol(String.class).intercept((message, next) -> {
          events.add("around " + message);
          next.run();
        }).inlineRequests().onStop(state -> events.add("stop " + state[0]))
        .newActorWithReturn((int[] state, String m) -> {
          if (m.isEmpty()) throw new IllegalArgumentException("planned");
          return ++state[0];
        });

    assertEquals(1, actor.ask("a"));
    assertEquals(2, actor.ask("b"));
    assertThrows(IllegalArgumentException.class, () -> actor.ask(""));
    assertEquals(1, actor.ask("c"));
    assertSame(actor, scope.find("late", String.class).orElseThrow());
    assertEquals(List.of("around a", "around b", "around ", "stop 2", "around c"), events);
  }

  @Test
  void builderGivesEachActorItsOwnState() {
    var builder = scope.anonymous().initialState(() -> new int[1]);
    var firstActor = builder.newActorWithReturn((int[] n, Object m) -> ++n[0]);
    var secondActor = builder.newActorWithReturn((int[] n, Object m) -> ++n[0]);

    firstActor.ask("count");

    assertEquals(2, firstActor.ask("count"));
    assertEquals(1, secondActor.ask("count"));
  }

  @Test
  void scopeOptionsFillUnsetBuilderOptions() {
    var mailbox = Mailbox.bounded(7, Overflow.REJECT);
    var builder = Variants.scope(o -> o.withStrategy(Strategy.THREAD).withMailbox(mailbox)).anonymous();

    assertSame(Strategy.THREAD, BlockBuilder.of(builder).strategy());
    assertSame(mailbox, BlockBuilder.of(builder).mailbox());
    assertFalse(builder.newActorWithReturn((Object m) -> Thread.currentThread().isVirtual()).ask("?"));
  }

  @Test
  void defaultNameAppliesOnlyWhenNameIsUnset() {
    assertEquals(Optional.of("default"), BlockBuilder.of(scope.anonymous()).defaultName("default").name());
    assertEquals(Optional.of("explicit"), BlockBuilder.of(scope.named("explicit")).defaultName("default").name());
    assertThrows(IllegalArgumentException.class, () -> BlockBuilder.of(scope.anonymous()).defaultName(""));
  }

  @Test
  void defaultMailboxAppliesOnlyWhenMailboxIsUnset() {
    var defaultMailbox = Mailbox.bounded(5, Overflow.BLOCK);
    var explicitMailbox = Mailbox.bounded(7, Overflow.REJECT);

    assertSame(defaultMailbox, BlockBuilder.of(scope.anonymous()).defaultMailbox(defaultMailbox).mailbox());
    assertSame(explicitMailbox,
        BlockBuilder.of(scope.anonymous().mailbox(explicitMailbox)).defaultMailbox(defaultMailbox).mailbox());
    assertSame(Mailbox.unbounded(),
        BlockBuilder.of(scope.anonymous().mailbox(Mailbox.unbounded())).defaultMailbox(defaultMailbox).mailbox());
    assertSame(explicitMailbox,
        BlockBuilder.of(Variants.scope(o -> o.withMailbox(explicitMailbox)).anonymous())
            .defaultMailbox(defaultMailbox).mailbox());
  }

  @Test
  void builderUsesSchedulerOfScope() {
    var clock = new Clock();

    assertSame(clock, BlockBuilder.of(Variants.scope(o -> o.withScheduler(clock)).anonymous()).scheduler());
  }

  @Test
  void childNameStartsWithParentName() {
    assertEquals(Optional.of("orders/3"), BlockBuilder.of(scope.named("orders")).child("3").name());
    assertEquals("orders/3", BlockBuilder.of(scope.named("orders")).child("3").newActor((Object m) -> {}).name());
    assertEquals(Optional.empty(), BlockBuilder.of(scope.anonymous()).child("3").name());
  }

  @Test
  void lastAddedInterceptorSurroundsEarlierOnes() {
    var actor = scope.anonymous().intercept((Object m, Handler.Task next) -> surround("inner", next))
        .intercept((Object m, Handler.Task next) -> surround("outer", next)).newActorWithReturn((Object m) -> {
          log.add(m);
          return "answer";
        });

    assertEquals("answer", actor.ask("message"));

    assertEquals(List.of("outer before", "inner before", "message", "inner after", "outer after"), log);
  }

  private void surround(String label, Handler.Task next) throws Exception {
    log.add(label + " before");
    next.run();
    log.add(label + " after");
  }

  @Promise("4.8")
  @Test
  void requestFailsWithNoReplyIfInterceptorSkipsHandler() {
    var actor = scope.anonymous().intercept((Object m, Handler.Task next) -> {}).newActorWithReturn((Object m) -> m);

    assertThrows(NoReplyException.class, () -> actor.ask("skipped"));
  }

  @Test
  void handlerExceptionPassesThroughInterceptor() {
    var failure = new IllegalStateException("bad");
    var actor =
        scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).intercept((Object m, Handler.Task next) -> {
          try {
            next.run();
          } catch (IllegalStateException caught) {
            log.add(caught);
            throw caught;
          }
        }).newActorWithReturn((Object m) -> {
          throw failure;
        });

    assertSame(failure, assertThrows(IllegalStateException.class, () -> actor.ask("x")));

    assertEquals(List.of(failure), log);
  }

  @Test
  void tasksBypassInterceptor() {
    var actor =
        scope.anonymous().intercept((Object m, Handler.Task next) -> log.add("around")).newActor((Object m) -> {});

    actor.execute(() -> log.add("task"));
    actor.close();

    assertEquals(List.of("task"), log);
  }

  @Test
  void protocolSetsMessageTypeOfActor() {
    var actor = scope.anonymous().protocol(CharSequence.class).newActor(m -> log.add(m.length()));

    actor.sendMessage("four");
    actor.close();

    assertEquals(List.of(4), log);
  }

  @Test
  void builderAcceptsHandlersWithOrWithoutStateAndContext() {
    var builder = scope.anonymous();
    var stateful = builder.initialState(() -> "s");

    assertEquals("r", builder.newActor((Get m, ActorContext<Get> c) -> c.reply(m, "r")).ask(new Get()));
    assertEquals("rx", builder.newActorWithReturn((String m) -> "r" + m).ask("x"));
    assertNotNull(builder.newActorWithReturn((String m, ActorContext<String> c) -> c.self()).ask("x"));
    assertEquals("s", stateful.newActor((String s, Get m, ActorContext<Get> c) -> c.reply(m, s)).ask(new Get()));
    assertEquals("sx", stateful.newActorWithReturn((String s, String m) -> s + m).ask("x"));
    assertEquals("sx", stateful.newActorWithReturn((String s, String m, ActorContext<String> c) -> s + m).ask("x"));
    assertThrows(NoReplyException.class, () -> builder.newActor((Get m) -> {}).ask(new Get()));
    assertThrows(NoReplyException.class, () -> stateful.newActor((String s, Get m) -> {}).ask(new Get()));
  }

  // ---- refused arguments

  @TestFactory
  Stream<DynamicTest> exceptionNamesNullArgument() {
    var actor = scope.anonymous().newActorWithReturn((Object m) -> m);
    var sink = scope.anonymous().initialState(() -> "s").newSink();
    var builder = scope.anonymous();
    var stateful = builder.initialState(() -> "s");
    var options = ActorScope.Options.defaults();
    var cases = new LinkedHashMap<String, Map.Entry<String, Executable>>();
    put(cases, "newSink", "object", () -> builder.newSink(null));
    put(cases, "sendMessage", "message", () -> actor.sendMessage(null));
    put(cases, "sendMessages", "block", () -> actor.sendMessages(null));
    put(cases, "sendMessages of null", "message", () -> actor.sendMessages(Arrays.asList("a", null)));
    put(cases, "ask", "message", () -> actor.ask((Object) null));
    put(cases, "ask with limit", "message", () -> actor.ask((Object) null, Patience.LONG));
    put(cases, "ask with limit of null", "limit", () -> actor.ask("x", null));
    put(cases, "sendMessageReturn", "message", () -> actor.sendMessageReturn((Object) null));
    put(cases, "execute", "task", () -> actor.execute(null));
    put(cases, "sendMessageLater", "message", () -> actor.sendMessageLater(null, Patience.LONG));
    put(cases, "sendMessageLater without delay", "delay", () -> actor.sendMessageLater("x", null));
    put(cases, "sendMessageLater by key", "key", () -> actor.sendMessageLater(null, "x", Patience.LONG));
    put(cases, "sendMessageEvery", "message", () -> actor.sendMessageEvery(null, Patience.LONG));
    put(cases, "sendMessageEvery by key", "key", () -> actor.sendMessageEvery(null, "x", Patience.LONG));
    put(cases, "waitForExit", "limit", () -> actor.waitForExit(null));
    put(cases, "closeOnExit", "resource", () -> actor.closeOnExit((AutoCloseable) null));
    put(cases, "execAsync", "code", () -> sink.execAsync(null));
    put(cases, "execAndWait", "code", () -> sink.execAndWait(null));
    put(cases, "execFuture", "code", () -> sink.execFuture(null));
    put(cases, "sink.ask", "code", () -> sink.ask(null));
    put(cases, "strategy", "strategy", () -> builder.strategy(null));
    put(cases, "mailbox", "mailbox", () -> builder.mailbox(null));
    put(cases, "onFailure", "policy", () -> builder.onFailure(null));
    put(cases, "protocol", "type", () -> builder.protocol(null));
    put(cases, "intercept", "interceptor", () -> builder.intercept(null));
    put(cases, "initialState", "initial", () -> builder.initialState(null));
    put(cases, "newActor", "handler", () -> builder.newActor((Handler<Object>) null));
    put(cases, "newActor with context", "handler", () -> builder.newActor((Handler.WithContext<Object>) null));
    put(cases, "newActorWithReturn", "handler",
        () -> builder.newActorWithReturn((Handler.Returning<Object, Object>) null));
    put(cases, "child", "part", () -> BlockBuilder.of(scope.named("whole")).child(null));
    put(cases, "onStop", "hook", () -> stateful.onStop(null));
    put(cases, "rollback", "copy", () -> stateful.rollback(null));
    put(cases, "stateful newActor", "handler", () -> stateful.newActor((Handler.Stateful<String, Object>) null));
    put(cases, "named", "name", () -> scope.named(null));
    put(cases, "find", "name", () -> scope.find(null, Object.class));
    put(cases, "find without protocol", "protocol", () -> scope.find("x", null));
    put(cases, "setDefaultStrategy", "strategy", () -> ActorSystem.setDefaultStrategy(null));
    put(cases, "configure", "options", () -> ActorSystem.configure(null));
    put(cases, "configure to null", "options", () -> ActorSystem.configure(o -> null));
    put(cases, "withStrategy", "strategy", () -> options.withStrategy(null));
    put(cases, "withMailbox", "mailbox", () -> options.withMailbox(null));
    put(cases, "withAskLimit", "limit", () -> options.withAskLimit(null));
    put(cases, "withKillGrace", "grace", () -> options.withKillGrace(null));
    put(cases, "withDeadLetterListener", "listener", () -> options.withDeadLetterListener(null));
    put(cases, "withScheduler", "scheduler", () -> options.withScheduler(null));
    put(cases, "Strategy.of", "executor", () -> Strategy.of(null));
    put(cases, "Mailbox.bounded", "overflow", () -> Mailbox.bounded(1, null));
    put(cases, "Mailbox.priority", "order", () -> Mailbox.priority(null));
    return cases.entrySet().stream().map(c -> dynamicTest(c.getKey(), () -> {
      var refusal = assertThrows(NullPointerException.class, c.getValue().getValue());
      assertTrue(refusal.getMessage() != null && refusal.getMessage().contains(c.getValue().getKey()),
          refusal.getMessage());
    }));
  }

  private static void put(Map<String, Map.Entry<String, Executable>> cases,
      String label, String text, Executable code) {
    cases.put(label, Map.entry(text, code));
  }

  @TestFactory
  Stream<DynamicTest> invalidCapacitiesAndDurationsAreRefused() {
    var actor = scope.anonymous().newActorWithReturn((Object m) -> m);
    var options = ActorScope.Options.defaults();
    var cases = new LinkedHashMap<String, Map.Entry<String, Executable>>();
    put(cases, "no capacity", "at least 1", () -> Mailbox.bounded(0, Overflow.BLOCK));
    put(cases, "negative capacity", "-5", () -> Mailbox.bounded(-5, Overflow.BLOCK));
    put(cases, "ask with limit of zero", "more than zero", () -> actor.ask("x", Duration.ZERO));
    put(cases, "ask with negative limit", "-2 s", () -> actor.ask("x", Duration.ofSeconds(-2)));
    put(cases, "ask limit", "more than zero", () -> options.withAskLimit(Duration.ZERO));
    put(cases, "grace", "zero or more", () -> options.withKillGrace(Duration.ofSeconds(-1)));
    return cases.entrySet().stream().map(c -> dynamicTest(c.getKey(), () -> {
      var refusal = assertThrows(IllegalArgumentException.class, c.getValue().getValue());
      assertTrue(refusal.getMessage().contains(c.getValue().getKey()), refusal.getMessage());
    }));
  }
}
