package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.codec.CodecException;
import io.fibry.durable.Durable.Builder;
import io.fibry.durable.storage.Body;
import io.fibry.store.MemoryStore;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.support.Patience;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that forbidden calls and results of a handler fail, with the expected exception texts. */
class BadTurnTest extends TurnFixture {
  private static final Durable<Ask> OTHER = KIND.state(0L).handler((n, ask) -> n);
  private static final Store.ActorId ADA = new Store.ActorId("notes", "ada");
  private static final Actor<String> OTHER_ACTOR = ActorSystem.anonymous().newActor((String message) -> {});

  // ---- the context

  /** Calls of all methods of a context, by name, except for key(), which any thread may call. */
  static final Map<String, Try> CALLS = new LinkedHashMap<>();

  static {
    var ask = new Ask("later");
    CALLS.put("persist", context -> context.persist(new Noted("x")));
    CALLS.put("sendMessage", context -> none(() -> context.sendMessage(OTHER, "grace", ask)));
    CALLS.put("setReminder", context -> none(() -> context.setReminder("r", ask, HOUR)));
    CALLS.put("setRepeatingReminder", context -> none(() -> context.setRepeatingReminder("r", ask, HOUR)));
    CALLS.put("cancelReminder", context -> none(() -> context.cancelReminder("r")));
    CALLS.put("afterCommit", context -> none(() -> context.afterCommit(() -> {})));
    CALLS.put("step", context -> context.step("s", String.class, () -> "x"));
    CALLS.put("idempotencyKey", context -> context.idempotencyKey("s"));
    CALLS.put("sleep", context -> none(() -> context.sleep("s", Duration.ZERO)));
    CALLS.put("erase", context -> none(context::erase));
    CALLS.put("reply", context -> none(() -> context.reply(ask, "x")));
    CALLS.put("replyWhen", context -> none(() -> context.replyWhen(ask, new CompletableFuture<>())));
    CALLS.put("replyFailure", context -> none(() -> context.replyFailure(ask, new Exception("made up"))));
    CALLS.put("self", context -> context.self());
    CALLS.put("isCancelled", context -> context.isCancelled());
    CALLS.put("remainingTime", context -> context.remainingTime());
    CALLS.put("scheduler", context -> context.scheduler());
    CALLS.put("receive", context -> context.receive(Ask.class, Duration.ZERO));
    CALLS.put("stash", context -> none(context::stash));
    CALLS.put("unstash", context -> none(context::unstash));
    CALLS.put("watch", context -> none(() -> context.watch(OTHER_ACTOR, reason -> ask)));
    CALLS.put("unwatch", context -> none(() -> context.unwatch(OTHER_ACTOR)));
  }

  @Test
  void testedCallsCoverAllMethodsOfEventSourcedContext() {
    var names = Arrays.stream(EventSourcedContext.class.getMethods()).map(Method::getName)
        .filter(name -> !name.equals("key")).collect(Collectors.toCollection(TreeSet::new));

    assertEquals(names, new TreeSet<>(CALLS.keySet()));
  }

  static Set<String> calls() {
    return CALLS.keySet();
  }

  @ParameterizedTest
  @MethodSource("calls")
  void contextRefusesCallsOfOtherThreads(String call) throws Exception {
    for (var kind : List.of(KIND, KIND.storeMessages(9))) {
      var contextFuture = new CompletableFuture<EventSourcedContext<Long, Noted, Ask>>();
      var gate = new CountDownLatch(1);
      try (var ada = ada(kind, context -> {
        contextFuture.complete(context);
        gate.await();
        return "fine";
      })) {
        var answer = ada.sendMessageReturn(new Ask("?"));

        try {
          var context = Patience.value(contextFuture);
          assertThrowsExactly(IllegalStateException.class, () -> CALLS.get(call).run(context));
        } finally {
          gate.countDown();
        }
        assertEquals("fine", answer.get());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("calls")
  void contextIsInvalidDuringNextMessage(String call) throws Exception {
    for (var kind : List.of(KIND, KIND.storeMessages(9))) {
      var firstContext = new CompletableFuture<EventSourcedContext<Long, Noted, Ask>>();
      var gate = new CountDownLatch(1);
      try (var ada = ada(kind, context -> {
        if (!firstContext.complete(context)) return CALLS.get(call).run(firstContext.get());
        gate.await();
        return "fine";
      })) {
        CompletableFuture<?> answer;
        try {
          ada.sendMessage(new Ask("?"));
          Patience.value(firstContext);
          answer = ada.sendMessageReturn(new Ask("on the same thread"));
        } finally {
          gate.countDown();
        }

        var failure = assertThrowsExactly(ExecutionException.class, answer::get).getCause();
        assertSame(IllegalStateException.class, failure.getClass(), failure.toString());
      }
    }
  }

  @Test
  void contextIsInvalidAfterHandlerReturns() throws Exception {
    var handlerContext = new CompletableFuture<EventSourcedContext<Long, Noted, Ask>>();
    ada(KIND, context -> handlerContext.complete(context)).ask(new Ask("?"));

    var failure =
        assertThrowsExactly(IllegalStateException.class, () -> handlerContext.get().persist(new Noted("late")));

    assertEquals("the context of actor 'ada' is valid on its handler's thread, until the handler returns; to send "
        + "later, use self()", failure.getMessage());
    assertEquals("ada", handlerContext.get().key());
  }

  @ParameterizedTest
  @ValueSource(strings = {"receive", "stash", "unstash"})
  void receiveStashAndUnstashAreRefusedDuringTurn(String method) {
    assertEquals("notes 'ada' cannot " + method + ": a turn has the effects of exactly one message",
        refused(KIND, IllegalStateException.class, CALLS.get(method)));
  }

  // ---- answers

  @Test
  void onlyCurrentRequestCanBeAnswered() {
    for (var kind : List.of(KIND, KIND.storeMessages(9)))
      assertEquals("actor 'ada' has no request Ask[what=another] to answer: its handler was not given this very object "
          + "as a request, or has answered it", refused(kind, IllegalArgumentException.class, context -> {
            context.reply(new Ask("another"), "x");
            return "";
          }));
  }

  @Test
  void nullAnswerIsRefused() {
    for (var kind : List.of(KIND, KIND.storeMessages(9))) {
      var ada = kind.state(0L).handler((n, ask, context) -> {
        context.reply(ask, null);
        return n + 1;
      }).newActor(scope.named("ada"), store);

      assertEquals("the answer is null; let it be an Optional, or Done",
          assertThrowsExactly(NullPointerException.class, () -> ada.ask(new Ask("?"))).getMessage());
      ada.close();
    }
    assertEquals(0, store.load(ADA).bodies().stream().filter(body -> Body.of(body).state().isPresent()).count());
  }

  record Order(String idempotencyKey) implements Idempotent, Request<Order, Long> {}

  private Actor<Order> orders(Durable.StateHandlerWithContext<Long, Order> handler) {
    return Durable.kind("orders", Order.class).state(0L).handler(handler).newActor(scope.named("ada"), store);
  }

  @Test
  void replyWhenAndReplyFailureToIdempotentRequestAreRefused() {
    var ada = orders((n, order, context) -> {
      if (order.idempotencyKey().equals("when")) context.replyWhen(order, new CompletableFuture<>());
      else context.replyFailure(order, new IllegalStateException("made up"));
      return n;
    });

    for (var id : List.of("when", "failure"))
      assertEquals("orders 'ada' must remember its answer to Order, which is Idempotent: call context.reply with a "
          + "value, or throw; after an exception the request may be sent again",
          assertThrowsExactly(IllegalStateException.class, () -> ada.ask(new Order(id))).getMessage());
  }

  @Test
  void invalidIdempotencyKeyIsRefused() {
    var ada = orders((n, order, context) -> {
      context.reply(order, n);
      return n + 1;
    });
    String prefix = "the idempotency key of the message Order to orders 'ada' ";

    assertEquals(prefix + "is null",
        assertThrowsExactly(NullPointerException.class, () -> ada.ask(new Order(null))).getMessage());
    for (var entry : Map.of("", "takes 0 bytes; 1 to 512 are possible", "x".repeat(513),
        "takes 513 bytes; 1 to 512 are possible", "\udc00", "has half of a surrogate pair").entrySet())
      assertEquals(prefix + entry.getValue(),
          assertThrowsExactly(IllegalArgumentException.class, () -> ada.ask(new Order(entry.getKey()))).getMessage());
    assertEquals(0, ada.ask(new Order("x")));
  }

  // ---- states and events

  @Test
  void nullStateIsRefused() {
    var ada = KIND.state(0L).handler((n, ask) -> null).newActor(scope.named("ada"), store);

    assertEquals("the handler of kind 'notes' returned null as the next state",
        assertThrowsExactly(NullPointerException.class, () -> ada.ask(new Ask("?"))).getMessage());
  }

  @Test
  void nullInitialStateIsRefused() {
    var ada = KIND.<Object>initialState(() -> null).events(Noted.class, (state, noted) -> state)
        .handler((state, ask, context) -> context.reply(ask, "fine")).newActor(scope.named("ada"), store);

    assertEquals("the initial state of notes 'ada' is null",
        assertThrowsExactly(NullPointerException.class, () -> ada.ask(new Ask("?"))).getMessage());
  }

  @Test
  void nullEventIsRefused() {
    assertEquals("event", missing(context -> context.persist(null)));
  }

  @Test
  @SuppressWarnings("unchecked") // a handler could cast its context, too
  void kindThatStoresStateCannotPersistEvents() {
    var ada =
        KIND.state(0L)
            .handler((n, ask, context) -> ((EventSourcedContext<Long, Noted, Ask>) context).persist(new Noted("x")))
            .newActor(scope.named("ada"), store);

    assertEquals("kind 'notes' stores its state, and no events; let the handler return the next state",
        assertThrowsExactly(IllegalStateException.class, () -> ada.ask(new Ask("?"))).getMessage());
  }

  private Actor<Ask> counting(BiFunction<Long, Noted, Long> applyEvent) {
    return KIND.events(Noted.class, 0L, applyEvent).handler((n, ask, context) -> {
      if (ask.what().equals("persist")) context.persist(new Noted("x"));
      context.reply(ask, String.valueOf(n));
    }).newActor(scope.named("ada"), store);
  }

  private static final String NO_STATE = "turn 1 of notes 'ada' has no state after its event of "
      + Noted.class.getName() + ": the kind's event function, which must never fail, ";

  @Test
  void eventThatCannotBeAppliedFailsItsTurn() {
    var ada = counting((n, noted) -> {
      throw new IllegalStateException("made up,\nfor a test");
    });

    var failure = assertThrowsExactly(IllegalStateException.class, () -> ada.ask(new Ask("persist")));

    assertEquals(NO_STATE + "threw java.lang.IllegalStateException: made up,\\nfor a test", failure.getMessage());
    assertEquals("made up,\nfor a test", failure.getCause().getMessage());
    assertEquals("0", ada.ask(new Ask("?")));
  }

  @Test
  void failureToApplyEventIsReportedOnLoad() {
    counting((n, noted) -> n + 1).ask(new Ask("persist"));
    scope.find("ada", Ask.class).orElseThrow().close();

    try (var overflowing = counting((n, noted) -> Math.negateExact(Long.MIN_VALUE))) {
      assertEquals(NO_STATE + "threw java.lang.ArithmeticException: long overflow",
          assertThrowsExactly(IllegalStateException.class, () -> overflowing.ask(new Ask("?"))).getMessage());
    }
    try (var nulling = counting((n, noted) -> null)) {
      assertEquals(NO_STATE + "returned null",
          assertThrowsExactly(NullPointerException.class, () -> nulling.ask(new Ask("?"))).getMessage());
    }
    assertEquals("1", counting((n, noted) -> n + 1).ask(new Ask("?")), "the failed loads changed nothing");
  }

  @Test
  void storedEventsAreRefusedByKindWithoutEventCodec() {
    counting((n, noted) -> n + 1).ask(new Ask("persist"));
    scope.find("ada", Ask.class).orElseThrow().close();
    var actor = OTHER.newActor(scope.named("ada"), store);

    assertEquals("turn 1 of notes 'ada' cannot be read: the turn has events, but kind 'notes' has no codec "
        + "for events any more; give the kind this codec again, or rename the kind",
        assertThrowsExactly(CodecException.class, () -> actor.ask(new Ask("?"))).getMessage());
  }

  @Test
  void tooLargeTurnIsNotStored() {
    var largeEvent = new Noted("x".repeat(9 << 20));
    try (var ada = ada(KIND, context -> context.persist(largeEvent) + context.persist(largeEvent))) {
      var failure = assertThrowsExactly(CodecException.class, () -> ada.ask(new Ask("?")));

      assertEquals("a turn of notes 'ada' cannot be stored: Body.Body.events[1]: it takes more than 16777216 bytes",
          failure.getMessage());
    }
    assertEquals(0, store.load(ADA).lastTurn());
  }

  // ---- reentrance

  @Test
  void actorThatAsksItselfGetsCycleException() {
    String text = "this wait could never end: 'ada' waits for 'ada'";
    assertTrue(refused(KIND, AskCycleException.class, context -> context.self().ask(new Ask("myself")))
        .startsWith(text));
    assertTrue(
        refused(KIND.storeMessages(9), RequestStoredException.class, context -> context.self().ask(new Ask("myself")))
            .contains("but does not answer: " + text));
  }

  @Test
  void actorCannotWatchItself() {
    assertTrue(refused(context -> none(() -> context.watch(context.self(), reason -> new Ask("over"))))
        .startsWith("actor 'ada' cannot watch its own end"));
  }

  @Test
  void turnIsRefusedWhenItsHandlerLoadsItsOwnKeyFromStore() {
    var failure = assertThrowsExactly(StorageFailedException.class, () -> ada(KIND, context -> {
      store.load(ADA);
      return context.persist(new Noted("x"));
    }).ask(new Ask("?")));

    assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
    assertSame(StaleLifeException.class, failure.getCause().getClass());
  }

  @Test
  void turnIsNotStoredWhenHandlerClosesStore() {
    var failure = assertThrowsExactly(StorageFailedException.class, () -> ada(KIND, context -> {
      ((MemoryStore) store).close();
      return context.persist(new Noted("x"));
    }).ask(new Ask("?")));

    assertEquals("notes 'ada' handled Ask[what=?], and could not store the effects: the store in memory is closed",
        failure.getMessage());
    assertSame(StoreClosedException.class, failure.getCause().getClass());
  }
}
