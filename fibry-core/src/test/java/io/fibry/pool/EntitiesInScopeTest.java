package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a scope ends its entities in order and decides on their failures. */
class EntitiesInScopeTest {
  private static final Duration IDLE = Duration.ofMinutes(10);

  private record Name() implements Request<Name, String> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope app = ActorSystem.openScope("app", o -> o.withDeadLetterListener(letters));
  private final Gate gate = new Gate();

  @AfterEach
  void close() {
    Gate.openAll();
    app.closeWithin(Duration.ZERO);
  }

  private Entities<String, Object> openCustomers(ActorScope scope) {
    return Entities.open(scope.named("customer"), IDLE, (builder, key) -> builder.newActor((message, context) -> {
      if (message instanceof Name name) context.reply(name, context.self().name());
    }));
  }

  private enum OpenOrder {
    SERVER_FIRST, ENTITIES_FIRST, SEPARATE_SCOPES
  }

  @Promise("16.17")
  @ParameterizedTest
  @EnumSource
  void httpExchangeMayCreateEntityWhileScopeCloses(OpenOrder order) throws Exception {
    var data = order == OpenOrder.SEPARATE_SCOPES ? app.openScope("data") : app;
    var web = order == OpenOrder.SEPARATE_SCOPES ? app.openScope("web") : app;
    var customersBeforeServer = order == OpenOrder.SERVER_FIRST ? null : openCustomers(data);
    var customers = new CompletableFuture<Entities<String, Object>>();
    var routes = HttpRoutes.none().text("/name", exchange -> {
      gate.pass();
      return customers.join().actor("ada").ask(new Name());
    });
    var server = HttpServer.open(web.anonymous(), 0, routes, o -> o.withDrainLimit(Patience.LONG));
    customers.complete(customersBeforeServer == null ? openCustomers(data) : customersBeforeServer);

    try (var client = HttpClient.newHttpClient()) {
      var uri = URI.create("http://localhost:" + server.port() + "/name");
      var response = client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      Patience.await(gate.entered);
      var closer = Patience.startFiber(() -> app.closeWithin(Patience.LONG));
      assertThrows(IllegalStateException.class, () -> {
        while (true) app.anonymous().newActor(message -> {}).close();
      });
      gate.open();

      assertEquals("customer/ada", Patience.value(response).body());
      Patience.awaitEnd(closer);
    }
  }

  @Promise("16.17")
  @Test
  void scopeEndsServersAndLaterActorsBeforeEntities() {
    var endedNames = new CopyOnWriteArrayList<String>();
    app.named("older").newActor(message -> {}).closeOnExit(() -> endedNames.add("older"));
    BlockBuilder.of(app.named("server")).closesFirst().newActor(message -> {})
        .closeOnExit(() -> endedNames.add("server"));
    var customers = openCustomers(app);
    customers.actor("ada").ask(new Name());
    customers.actor("ada").closeOnExit(() -> endedNames.add("ada"));
    app.named("later").newActor(message -> {}).closeOnExit(() -> endedNames.add("later"));

    app.close();

    assertEquals(List.of("later", "ada", "older"), endedNames.stream().filter(name -> !name.equals("server")).toList());
    assertTrue(endedNames.indexOf("server") < endedNames.indexOf("ada"), endedNames::toString);
  }

  @Promise("16.17")
  @Test
  void addressesAfterScopeCloseActLikeEndedActors() {
    var customers = openCustomers(app);
    customers.actor("ada").ask(new Name());

    app.close();

    try (var logged = new Logged()) {
      assertFalse(customers.actor("ada").sendMessage("hello"));
      assertFalse(customers.actor("bob").sendMessage("hello"));
      assertThrows(ActorStoppedException.class, () -> customers.actor("bob").ask(new Name()));
      assertTrue(customers.actor("bob").sendMessageReturn(new Name()).isCompletedExceptionally());
      customers.actor("bob").sendMessageLater("later", Duration.ZERO);
      assertEquals("", logged.entriesAbout("ada", "bob", "hello", "later", "Entities"));
    }
    assertEquals(new ExitReason.Stopped(), Patience.value(customers.onExit()));
    assertEquals(0, customers.size());
  }

  @Test
  void entitiesClosedByUserAndScopeTogetherLeaveNoDeadLetters() {
    for (int round = 0; round < 500; round++) {
      var scope = app.openScope("round");
      var customers = openCustomers(scope);
      if (round % 2 == 0) customers.actor("ada").sendMessage("hello");
      var closer = round % 3 == 0 ? Patience.startFiber(customers::close) : null;

      var report = scope.closeWithin(Patience.LONG);

      if (closer != null) Patience.awaitEnd(closer);
      else assertEquals(new ExitReason.Stopped(), Patience.value(customers.onExit()));
      assertEquals(List.of(), report.deadLetters());
      assertEquals(List.of(), letters.messages());
    }
  }

  @Test
  void scopeCloseEndsAllEntitiesInParallel() {
    int entityCount = 100;
    var endLatch = new CountDownLatch(entityCount);
    Entities<Integer, Object> entities =
        Entities.open(app.anonymous(), IDLE, (builder, key) -> builder.initialState(() -> key).onStop(state -> {
          endLatch.countDown();
          Patience.await(endLatch);
        }).newActor((state, message) -> {}));
    for (int key = 0; key < entityCount; key++) entities.actor(key).sendMessage("hello");

    app.close();

    assertEquals(0, endLatch.getCount());
  }

  @Test
  void scopeForgetsClosedEntities() {
    var customers = openCustomers(app);
    customers.actor("ada").ask(new Name());

    customers.close();

    Patience.eventually(() -> !app.dump().contains("customer"));
    assertFalse(customers.actor("ada").sendMessage("hello"));
  }

  @Test
  void entityIsNamedAfterBuilderAndKey() {
    assertEquals("customer/ada", openCustomers(app).actor("ada").ask(new Name()));
    assertTrue(app.dump().contains("scope 'customer': "), app.dump());
    assertTrue(app.dump().contains("customer/ada (FIBER): "), app.dump());
  }

  @Test
  void entitiesWithReturnAnswerPlainMessages() {
    Entities.WithReturn<Integer, String, Integer> lengths =
        Entities.openWithReturn(app.anonymous(), IDLE,
            (builder, key) -> builder.newActorWithReturn(text -> key + text.length()));

    assertEquals(12, lengths.actor(10).ask("hi"));
    assertEquals(13, lengths.actor(10).ask("hoy", Patience.LONG));
    assertEquals(11, Patience.value(lengths.actor(10).sendMessageReturn("a")));
    app.close();
    assertThrows(ActorStoppedException.class, () -> lengths.actor(10).ask("late"));
  }

  // ---- failures

  private static final class FailingEntities {
    final Set<String> stoppedKeys = ConcurrentHashMap.newKeySet();

    Entities<String, Object> open(ActorScope scope) {
      return Entities.open(scope.anonymous().onFailure(FailurePolicy.escalate().withoutLog()), IDLE, this::birth);
    }

    private Actor<Object> birth(ActorBuilder<Object> builder, String key) {
      return builder.initialState(() -> key).onStop(stoppedKeys::add).newActor(this::handle);
    }

    private void handle(String state, Object message, ActorContext<Object> context) {
      if (message instanceof Name name) context.reply(name, state);
      else throw new IllegalStateException("planned");
    }
  }

  private FailingEntities escalateFailureOfAda(FailurePolicy policy) {
    var failingEntities = new FailingEntities();
    var scope = app.openScope("inner", o -> o.withFailurePolicy(policy.withoutLog()));
    var entities = failingEntities.open(scope);
    entities.actor("ada").ask(new Name());
    entities.actor("bob").ask(new Name());
    entities.actor("ada").sendMessage("fail");
    return failingEntities;
  }

  @Promise("17.15")
  @Test
  void restartPolicyOfScopeRestartsOnlyFailedEntity() {
    var failingEntities = escalateFailureOfAda(FailurePolicy.restart());

    Patience.eventually(() -> !failingEntities.stoppedKeys.isEmpty());
    assertTrue(app.awaitQuiescence(Patience.LONG));
    assertEquals(Set.of("ada"), failingEntities.stoppedKeys);
  }

  @Promise("17.15")
  @Test
  void restartFromFailedRestartsActorsCreatedAfterFailedEntity() {
    var failingEntities = new FailingEntities();
    var scope = app.openScope("inner", o -> o.withFailurePolicy(FailurePolicy.restartFromFailed().withoutLog()));
    var entities = failingEntities.open(scope);
    for (var name : List.of("ada", "bob", "eve")) entities.actor(name).ask(new Name());
    scope.anonymous().initialState(() -> "later").onStop(failingEntities.stoppedKeys::add)
        .newActor((String state, Object message) -> {}).sendMessage("makes the state");
    assertTrue(app.awaitQuiescence(Patience.LONG));

    entities.actor("bob").sendMessage("fail");

    Patience.eventually(() -> failingEntities.stoppedKeys.size() == 3);
    assertTrue(app.awaitQuiescence(Patience.LONG));
    assertEquals(Set.of("bob", "eve", "later"), failingEntities.stoppedKeys);
  }

  @Promise("17.15")
  @Test
  void stopPolicyOfScopeEndsAllItsEntities() {
    var failingEntities = escalateFailureOfAda(FailurePolicy.stop());

    Patience.eventually(() -> failingEntities.stoppedKeys.equals(Set.of("ada", "bob")));
    Patience.eventually(() -> !app.dump().contains("inner"));
  }

  @Promise("17.15")
  @Test
  void failureEscalatedToRootScopeEndsOnlyFailedEntity() {
    var failingEntities = new FailingEntities();
    var entities = Entities.open(ActorSystem.named("free").onFailure(FailurePolicy.escalate().withoutLog()), IDLE,
        failingEntities::birth);
    entities.actor("ada").ask(new Name());
    entities.actor("bob").ask(new Name());

    entities.actor("ada").sendMessage("fail");

    Patience.eventually(() -> failingEntities.stoppedKeys.equals(Set.of("ada")));
    assertEquals("bob", entities.actor("bob").ask(new Name()));
    assertEquals("ada", entities.actor("ada").ask(new Name()));
    entities.close();
  }
}
