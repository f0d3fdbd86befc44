package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.flow.Batch;
import io.fibry.flow.Pipeline;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.TcpAcceptor;
import io.fibry.net.TcpConnection;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.pubsub.Topic;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that the counts of a scope include the messages of users and clients, and exclude messages
 * that blocks send to themselves.
 */
class CountingTest {
  private final ActorScope scope = ActorSystem.openScope("counted");

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private void assertHandledCount(int handled) {
    Patience.eventually(() -> scope.report().handled() == handled);
    assertEquals(handled, scope.closeWithin(Patience.LONG).handled());
    assertEquals(handled, scope.report().sent());
  }

  @Promise("19.14")
  @Test
  void batchAndItsTimerAreNotCountedAsMessages() {
    var batchedNumbers = new AtomicInteger(); // not the number of batches, because a slow sender causes more
    var numbers = Batch.<Integer>ofLists(scope.named("batch"), 2, Duration.ofMillis(20),
        batch -> batchedNumbers.addAndGet(batch.size()));
    for (int i = 0; i < 9; i++) numbers.sendMessage(i);

    Patience.eventually(() -> scope.report().handled() == 9 && batchedNumbers.get() == 9);
    assertHandledCount(9);
  }

  @Promise("19.14")
  @Test
  void passivationIsNotCountedAsMessage() {
    var entities = Entities.<Integer, String, Object>open(scope.anonymous(), Duration.ofMillis(20),
        (builder, key) -> builder.newActor((String message) -> {}));
    for (int i = 0; i < 9; i++) entities.actor(i % 3).sendMessage("hello");

    Patience.eventually(() -> entities.size() == 0);
    assertHandledCount(9);
  }

  @Promise("19.14")
  @Test
  void closedEntitiesLeaveDeadLettersOnlyOfUserMessages() {
    for (int round = 0; round < 30; round++) {
      var inner = scope.openScope("inner", o -> o.withKillGrace(Patience.LONG));
      var entities = Entities.<Integer, String, Object>open(inner.anonymous(), Duration.ofSeconds(1),
          (builder, key) -> builder.newActor((String message) -> {}));
      for (int i = 0; i < 20; i++) entities.actor(i).sendMessage("hello");

      var report = inner.closeWithin(Duration.ZERO);

      for (var letter : report.deadLetters()) assertEquals("hello", letter.message());
      assertEquals(20, report.sent(), report::toString);
    }
  }

  @Promise("19.14")
  @Test
  void pipelineStageCountsEachMessageOnceDespiteSeveralWorkers() {
    var results = new CopyOnWriteArrayList<Integer>();
    var numbers = Pipeline.of(scope.named("numbers"), (Integer n) -> n).then(3, n -> n + 1).into(results::add);
    for (int i = 0; i < 9; i++) numbers.sendMessage(i);

    Patience.eventually(() -> results.size() == 9);
    numbers.close();
    assertHandledCount(27);
  }

  @Promise("19.14")
  @Test
  void topicCountsMessageOfEachSubscriber() {
    var topic = Topic.<String>open(scope.anonymous());
    topic.subscribeToLatest(message -> {});
    topic.subscribeToLatest(message -> {});
    for (int i = 0; i < 9; i++) topic.publish("hello");

    assertHandledCount(18);
  }

  @Promise("19.14")
  @Test
  void exchangesAreCountedWhileConnectionIsOpen() throws Exception {
    var server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().text("/", exchange -> "hello"), o -> o);
    try (var client = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/")).build();
      for (int i = 0; i < 9; i++) client.send(request, BodyHandlers.ofString());

      Patience.eventually(() -> scope.report().handled() == 9);
    }

    assertHandledCount(9);
  }

  private TcpAcceptor open(Handler<TcpConnection> conversation) {
    return TcpAcceptor.open(scope.anonymous(), 0, conversation, UnaryOperator.identity());
  }

  private static Socket connect(TcpAcceptor server, String text) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.getOutputStream().write(text.getBytes());
    return socket;
  }

  @Promise("19.14")
  @Test
  void linesAreCountedWhileConnectionIsOpen() throws Exception {
    var server = open(client -> {
      for (var line : client.lines()) line.length();
    });
    try (var client = connect(server, "a\nb\nc\n")) {
      Patience.eventually(() -> scope.report().handled() == 3);
      assertFalse(client.isClosed());
    }

    assertHandledCount(3);
  }

  @Promise("19.14")
  @Test
  void byteConversationCountsAsOneMessage() throws Exception {
    var server = open(client -> client.inputStream().readAllBytes());

    connect(server, "abc").close();

    assertHandledCount(1);
  }

  @Promise("19.14")
  @Test
  void lineSentThroughLineActorCountsAsOneMessage() throws Exception {
    var server = open(client -> {
      for (int i = 0; i < 9; i++) client.lineActor().sendMessage("hello");
      client.lines().forEach(line -> {});
    });
    try (var client = connect(server, "")) {
      client.getInputStream().readNBytes(9 * 6);
    }

    assertHandledCount(9);
  }

  @Promise("19.15")
  @Test
  void lineToDisconnectedClientIsNotCountedAsFailure() throws Exception {
    var lineActor = new CompletableFuture<Actor<String>>();
    var server = open(client -> {
      lineActor.complete(client.lineActor());
      client.inputStream().readAllBytes();
    });
    try (var client = connect(server, "")) {
      Patience.value(lineActor);
      client.setSoLinger(true, 0);
    }
    var line = "x".repeat(10_000);
    Patience.eventually(() -> !lineActor.join().sendMessage(line));

    Patience.awaitEnd(lineActor.join()::waitForExit);
    lineActor.join().sendMessage("too late");

    Patience.eventually(() -> scope.report().unhandled().get(Reason.DISCONNECTED) >= 2);
    var unhandled = scope.report().unhandled();
    assertEquals(0, unhandled.get(Reason.FAILED) + unhandled.get(Reason.UNDELIVERED), unhandled::toString);
    assertEquals(List.of(), scope.deadLetters());
  }

  /**
   * The message ends, and is added to the counts of the scope, while a report reads these counts.
   */
  @Promise("19.14")
  @Test
  void messageEndingDuringReportIsCountedOnce() {
    var gate = new Gate();
    var stepsRead = new AtomicBoolean();
    class OneStep implements MultiStepMessage {
      @Override
      public Object currentStep() {
        return "the only one";
      }

      @Override
      public long completedSteps() {
        if (!stepsRead.compareAndSet(false, true)) return 1; // a later read, or the read when the message ends
        gate.open();
        Patience.eventually(() -> scope.actors().getFirst().state() == ActorState.IDLE);
        return 1;
      }
    }
    var actor = scope.anonymous().newActor((OneStep steps) -> gate.pass());
    Patience.startFiber(() -> actor.sendMessage(new OneStep()));
    Patience.await(gate.entered);

    assertEquals(1, scope.report().handled());
    assertHandledCount(1);
  }

  /** If a counter decreases, a monitoring system assumes that the process was restarted. */
  @Promise("20.1")
  @Test
  void poolHandledCountNeverDecreasesWhenWorkersRetire() {
    var clock = new Clock();
    try (var poolScope = scope.openScope("retiring", options -> options.withScheduler(clock))) {
      var pool = Pools.perMessage(poolScope.<Integer>named("pool")).newActor((Integer number) -> {});
      for (int sentCount = 4; sentCount <= 4_000; sentCount += 4) {
        for (int i = 0; i < 4; i++) pool.sendMessage(i);
        int handledCount = sentCount;
        Patience.eventually(() -> poolScope.actors().getFirst().handled() == handledCount
            && poolScope.report().queued() == 0);

        Patience.startFiber(() -> clock.manual.advance(Duration.ofSeconds(10)));

        Patience.eventually(() -> {
          var stats = poolScope.actors().getFirst();
          assertEquals(handledCount, stats.handled(), stats::toString);
          return stats.workers() == 0;
        });
      }
    }
  }

  @Promise("19.14")
  @Test
  void completedStepsCountEvenIfLaterStepFails() {
    record ThreeSteps() implements MultiStepMessage {
      @Override
      public Object currentStep() {
        return "the fourth";
      }

      @Override
      public long completedSteps() {
        return 3;
      }
    }
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((ThreeSteps steps) -> {
      throw new IllegalStateException();
    });
    actor.sendMessage(new ThreeSteps());

    Patience.eventually(() -> scope.report().unhandled().get(Reason.FAILED) == 1);
    Patience.eventually(() -> scope.report().handled() == 3);
  }
}
