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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** Entities belong to a scope: it has their clock and decides failures, and ends them in turn. */
class EntitiesInScopeTest {
  private static final Duration IDLE = Duration.ofMinutes(10);

  private record Name() implements Request<Name, String> {}

  private final Letters letters = new Letters();
  private final ActorScope app = ActorSystem.openScope("app", o -> o.withDeadLetters(letters));
  private final Gate gate = new Gate();

  @AfterEach
  void close() {
    Gate.openAll();
    app.closeWithin(Duration.ZERO);
  }

  private Entities<String, Object> named(ActorScope scope) {
    return Entities.open(scope.named("customer"), IDLE, (how, key) -> how.newActor((message, context) -> {
      if (message instanceof Name name) context.reply(name, context.self().name());
    }));
  }

  private enum Place {
    SERVER_FIRST, ENTITIES_FIRST, SCOPES
  }

  @Promise("16.17")
  @ParameterizedTest
  @EnumSource
  void aRouteUnderWayMakesAnEntityThoughTheScopeCloses(Place place) throws Exception {
    var data = place == Place.SCOPES ? app.openScope("data") : app;
    var web = place == Place.SCOPES ? app.openScope("web") : app;
    var early = place == Place.SERVER_FIRST ? null : named(data);
    var customers = new CompletableFuture<Entities<String, Object>>();
    var routes = HttpRoutes.none().text("/name", exchange -> {
      gate.pass();
      return customers.join().actor("ada").ask(new Name());
    });
    var server = HttpServer.open(web.anonymous(), 0, routes, o -> o.withDrainLimit(Patience.LONG));
    customers.complete(early == null ? named(data) : early);

    try (var client = HttpClient.newHttpClient()) {
      var uri = URI.create("http://localhost:" + server.port() + "/name");
      var answer = client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      Patience.await(gate.entered);
      var closing = Patience.startFiber(() -> app.closeWithin(Patience.LONG));
      assertThrows(IllegalStateException.class, () -> {
        while (true) app.anonymous().newActor(message -> {}).close();
      });
      gate.open();

      assertEquals("customer/ada", Patience.value(answer).body());
      Patience.joined(closing);
    }
  }

  @Promise("16.17")
  @Test
  void entitiesEndAfterServersAndLaterActors() {
    var ended = new CopyOnWriteArrayList<String>();
    app.named("older").newActor(message -> {}).closeOnExit(() -> ended.add("older"));
    BlockBuilder.of(app.named("door")).closesFirst().newActor(message -> {}).closeOnExit(() -> ended.add("door"));
    var customers = named(app);
    customers.actor("ada").ask(new Name());
    customers.actor("ada").closeOnExit(() -> ended.add("ada"));
    app.named("later").newActor(message -> {}).closeOnExit(() -> ended.add("later"));

    app.close();

    assertEquals(List.of("later", "ada", "older"), ended.stream().filter(name -> !name.equals("door")).toList());
    assertTrue(ended.indexOf("door") < ended.indexOf("ada"), ended::toString);
  }

  @Promise("16.17")
  @Test
  void addressesAfterScopeCloseActLikeEndedActors() {
    var customers = named(app);
    customers.actor("ada").ask(new Name());

    app.close();

    try (var logged = new Logged()) {
      assertFalse(customers.actor("ada").sendMessage("hello"));
      assertFalse(customers.actor("bob").sendMessage("hello"));
      assertThrows(ActorStoppedException.class, () -> customers.actor("bob").ask(new Name()));
      assertTrue(customers.actor("bob").sendMessageReturn(new Name()).isCompletedExceptionally());
      customers.actor("bob").sendMessageLater("later", Duration.ZERO);
      assertEquals("", logged.about("ada", "bob", "hello", "later", "Entities"));
    }
    assertEquals(new ExitReason.Stopped(), Patience.value(customers.onExit()));
    assertEquals(0, customers.size());
  }

  @Test
  void entitiesEndedByUserAndScopeLeaveNothing() {
    for (int round = 0; round < 500; round++) {
      var scope = app.openScope("round");
      var customers = named(scope);
      if (round % 2 == 0) customers.actor("ada").sendMessage("hello");
      var other = round % 3 == 0 ? Patience.startFiber(customers::close) : null;

      var report = scope.closeWithin(Patience.LONG);

      if (other != null) Patience.joined(other);
      else assertEquals(new ExitReason.Stopped(), Patience.value(customers.onExit()));
      assertEquals(List.of(), report.undelivered());
      assertEquals(List.of(), letters.messages());
    }
  }

  @Test
  void manyEndAtTheSameTime() {
    int many = 100;
    var ending = new CountDownLatch(many);
    Entities<Integer, Object> slow = Entities.open(app.anonymous(), IDLE, (how, key) -> how.initialState(() -> key)
        .onStop(state -> {
          ending.countDown();
          Patience.await(ending);
        }).newActor((state, message) -> {}));
    for (int key = 0; key < many; key++) slow.actor(key).sendMessage("hello");

    app.close();

    assertEquals(0, ending.getCount());
  }

  @Test
  void aClosedGroupLeavesItsScope() {
    var customers = named(app);
    customers.actor("ada").ask(new Name());

    customers.close();

    Patience.eventually(() -> !app.dump().contains("customer"));
    assertFalse(customers.actor("ada").sendMessage("hello"));
  }

  @Test
  void actorsOfANamedBuilderHaveNames() {
    assertEquals("customer/ada", named(app).actor("ada").ask(new Name()));
    assertTrue(app.dump().contains("scope 'customer': "), app.dump());
    assertTrue(app.dump().contains("customer/ada (FIBER): "), app.dump());
  }

  @Test
  void entitiesAnswerWithoutProtocol() {
    Entities.WithReturn<Integer, String, Integer> lengths =
        Entities.openWithReturn(app.anonymous(), IDLE,
            (how, key) -> how.newActorWithReturn(text -> key + text.length()));

    assertEquals(12, lengths.actor(10).ask("hi"));
    assertEquals(13, lengths.actor(10).ask("hoy", Patience.LONG));
    assertEquals(11, Patience.value(lengths.actor(10).sendMessageReturn("a")));
    app.close();
    assertThrows(ActorStoppedException.class, () -> lengths.actor(10).ask("late"));
  }

  // ---- failures

  private static final class Failing {
    final Set<String> stopped = ConcurrentHashMap.newKeySet();

    Entities<String, Object> in(ActorScope scope) {
      return Entities.open(scope.anonymous().onFailure(FailurePolicy.escalate().withoutLog()), IDLE, this::birth);
    }

    private Actor<Object> birth(ActorBuilder<Object> how, String key) {
      return how.initialState(() -> key).onStop(stopped::add).newActor(this::handle);
    }

    private void handle(String state, Object message, ActorContext<Object> context) {
      if (message instanceof Name name) context.reply(name, state);
      else throw new IllegalStateException("planned");
    }
  }

  private Failing escalateOne(FailurePolicy policy) {
    var failing = new Failing();
    var scope = app.openScope("inner", o -> o.withFailurePolicy(policy.withoutLog()));
    var both = failing.in(scope);
    both.actor("ada").ask(new Name());
    both.actor("bob").ask(new Name());
    both.actor("ada").sendMessage("fail");
    return failing;
  }

  @Promise("17.15")
  @Test
  void scopeRestartsFailedEntity() {
    var failing = escalateOne(FailurePolicy.restart());

    Patience.eventually(() -> !failing.stopped.isEmpty());
    assertTrue(app.awaitQuiescence(Patience.LONG));
    assertEquals(Set.of("ada"), failing.stopped);
  }

  @Promise("17.15")
  @Test
  void scopeRestartsActorsMadeAfterFailedEntity() {
    var failing = new Failing();
    var scope = app.openScope("inner", o -> o.withFailurePolicy(FailurePolicy.restartFromFailed().withoutLog()));
    var all = failing.in(scope);
    for (var name : List.of("ada", "bob", "eve")) all.actor(name).ask(new Name());
    scope.anonymous().initialState(() -> "later").onStop(failing.stopped::add)
        .newActor((String state, Object message) -> {}).sendMessage("makes the state");
    assertTrue(app.awaitQuiescence(Patience.LONG));

    all.actor("bob").sendMessage("fail");

    Patience.eventually(() -> failing.stopped.size() == 3);
    assertTrue(app.awaitQuiescence(Patience.LONG));
    assertEquals(Set.of("bob", "eve", "later"), failing.stopped);
  }

  @Promise("17.15")
  @Test
  void scopeThatStopsClosesWithAllEntities() {
    var failing = escalateOne(FailurePolicy.stop());

    Patience.eventually(() -> failing.stopped.equals(Set.of("ada", "bob")));
    Patience.eventually(() -> !app.dump().contains("inner"));
  }

  @Promise("17.15")
  @Test
  void rootEndsFailedEntity() {
    var failing = new Failing();
    var free = Entities.open(ActorSystem.named("free").onFailure(FailurePolicy.escalate().withoutLog()), IDLE,
        failing::birth);
    free.actor("ada").ask(new Name());
    free.actor("bob").ask(new Name());

    free.actor("ada").sendMessage("fail");

    Patience.eventually(() -> failing.stopped.equals(Set.of("ada")));
    assertEquals("bob", free.actor("bob").ask(new Name()));
    assertEquals("ada", free.actor("ada").ask(new Name()));
    free.close();
  }
}
