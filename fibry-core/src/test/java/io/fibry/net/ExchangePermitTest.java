package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.StressHarness;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When an exchange is at work, on a server with one permit. */
class ExchangePermitTest {
  // time is stopped, so no limit cuts off slow clients
  private final ActorScope scope = ActorSystem.openScope("permits", o -> o.withScheduler(new ManualScheduler()));
  private HttpServer server;

  private void open(UnaryOperator<HttpRoutes> routes) {
    server = HttpServer.open(scope.anonymous(), 0, routes.apply(HttpRoutes.none()), o -> o.withMaxExchanges(1));
  }

  private String codes(String request) throws IOException {
    return RawClient.codes(RawClient.talk(server.port(), request));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    if (server != null) server.kill();
    scope.close();
  }

  @Promise("27.4")
  @Test
  void excessExchangesAreRefusedAtOnce() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/wait", exchange -> {
      gate.pass();
      return "waited";
    }).text("/", exchange -> "x"));
    try (var first = new RawClient(server.port())) {
      first.send(RawClient.get("/wait"));
      Patience.await(gate.entered);

      var busy = RawClient.talk(server.port(), RawClient.get("/"));
      gate.open();

      assertTrue(busy.startsWith("HTTP/1.1 503 ") && busy.contains("\r\nRetry-After: 1\r\n")
          && busy.contains("\r\nConnection: close\r\n"), busy);
      assertTrue(first.all().endsWith("waited"));
      assertEquals("200", codes(RawClient.get("/")));
    }
  }

  @Promise("27.4")
  @Test
  void exchangesThatWaitForTheirClientsBlockNoOthers() throws Exception {
    var begun = new CountDownLatch(1);
    var listening = new CountDownLatch(1);
    open(routes -> routes.text("/", exchange -> "").text("/slow", exchange -> {
      begun.countDown();
      return "took " + exchange.bodyAsText();
    }).stream("/news", exchange -> {
      var client = exchange.eventActor();
      listening.countDown();
      client.waitForExit();
    }));
    try (var slow = new RawClient(server.port()); var listener = new RawClient(server.port())) {
      slow.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
      Patience.await(begun);
      // at work until it has read what was sent
      Patience.eventually(() -> {
        try {
          return codes(RawClient.get("/")).equals("200");
        } catch (IOException gone) {
          throw new AssertionError(gone);
        }
      });

      listener.send(RawClient.get("/news"));
      Patience.await(listening);

      assertEquals("200", codes(RawClient.get("/")));
      assertTrue(slow.send("lf").one().endsWith("took half"));
    }
  }

  @Test
  void clientThatAsksFirstIsNotToldToSendWhenTheServerIsBusy() throws Exception {
    var gate = new Gate();
    open(routes -> routes.text("/", exchange -> {
      gate.pass();
      return exchange.bodyAsText();
    }));
    try (var first = new RawClient(server.port())) {
      first.send(RawClient.get("/"));
      Patience.await(gate.entered);

      assertEquals("503", codes("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
    }
  }

  @Promise("27.4")
  @Test
  void clientThatHasItsAnswerIsNoLongerAtWork(@TempDir Path root) throws Exception {
    Files.writeString(root.resolve("index.html"), "x");
    Files.createDirectory(root.resolve("sub"));
    open(routes -> routes.text("/", exchange -> "x").stream("/stream", exchange -> exchange.outputStream().write('x'))
        .files("/files", root).stream("/news", exchange -> exchange.eventActor().waitForExit()));
    for (int i = 0; i < 20; i++) {
      try (var one = new RawClient(server.port());
          var other = new RawClient(server.port());
          var listener = new RawClient(server.port())) {
        for (var path : List.of("/", "/stream", "/files/", "/files/sub")) {
          for (var client : List.of(one, other)) {
            var answer = client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").one();

            assertEquals(path.endsWith("sub") ? "301" : "200", RawClient.codes(answer), path);
          }
        }
        assertEquals("200", RawClient.codes(listener.send(RawClient.get("/news")).one()));
      }
    }
  }

  @Promise("27.4")
  @Test
  void permitIsBackWhenTheAnswerIsSent() throws Exception {
    var routes =
        HttpRoutes.none().text("/", exchange -> "x").stream("/stream", exchange -> exchange.outputStream().write('x'));
    for (var path : List.of("/", "/stream")) {
      var places = pool(1);
      var atWorkWhenSent = new AtomicInteger(-1);
      var answer = new ServerResponse(new OutputStream() {
        @Override
        public void write(int one) {
          atWorkWhenSent.set(places.atWork());
        }
      }, true, false, true, false);
      answer.permit = places.tryAdmit();
      var exchange = new ServerExchange(null, null, null, null, answer, RoutePattern.of(path), Optional.empty(), null);

      routes.find("GET", path).handler().handle(exchange);
      exchange.finish();

      assertEquals(0, atWorkWhenSent.get(), path);
      assertEquals(0, places.atWork(), path); // and stays where it is
    }
  }

  @Test
  void refusedExchangeTakesNoPermit() {
    var places = pool(1);
    var waiting = suspended(places);
    suspended(places); // now twice the limit is admitted
    var stopped = new AtomicBoolean();
    var admitted = new AtomicInteger();
    var refused = new Thread(() -> {
      while (!stopped.get()) if (places.tryAdmit() != null) admitted.incrementAndGet();
    });
    refused.start();
    try {
      for (int i = 0; i < 1_000_000; i++) {
        assertEquals(0, places.atWork());
        assertEquals(2, places.admitted());
        assertEquals(0, admitted.get());
        waiting.resume();
        assertEquals(1, places.atWork());
        waiting.suspend();
      }
    } finally {
      stopped.set(true);
      Patience.joined(refused);
    }
  }

  @Promise("27.4")
  @Test
  void stalledExchangesDoNotKeepAnotherFromWork() {
    var places = pool(3);
    var all = Stream.generate(() -> suspended(places)).limit(6).toList();

    assertNull(places.tryAdmit());
    for (var permit : all) {
      permit.resume(); // it would wait for ever
      assertEquals(1, places.atWork());
      permit.suspend();
    }
    all.forEach(ExchangePermit::release);
    all.forEach(ExchangePermit::release);
    assertEquals(0, places.admitted());
  }

  private static ExchangePermit.PermitPool pool(int limit) {
    return new ExchangePermit.PermitPool(limit, () -> 0);
  }

  /** An exchange that runs may wait for a lock of an exchange that waits to run. */
  @Promise("27.4")
  @Test
  void exchangeContinuesOverTheLimitAfterTenSeconds() {
    var time = new AtomicLong();
    var places = new ExchangePermit.PermitPool(1, time::get);
    var waiting = suspended(places);
    var running = places.tryAdmit();
    var resumed = new Thread(waiting::resume);
    resumed.start();
    try {
      Patience.eventually(() -> places.tryAdmit() == null && resumed.getState() == Thread.State.TIMED_WAITING);
      time.set(ExchangePermit.MAX_WAIT.toNanos() - 1);
      assertEquals(1, places.atWork());
    } finally {
      time.set(ExchangePermit.MAX_WAIT.toNanos());
      Patience.joined(resumed);
    }
    assertEquals(2, places.atWork());
    assertNull(places.tryAdmit());

    waiting.release();
    assertNull(places.tryAdmit());
    running.release();
    assertNotNull(places.tryAdmit());
  }

  @Test
  void interruptedExchangeDoesNotWaitToRun() {
    var places = pool(1);
    var interrupted = suspended(places);
    var running = places.tryAdmit();
    Thread.currentThread().interrupt();
    try {
      interrupted.resume();
      assertTrue(Thread.currentThread().isInterrupted());
    } finally {
      Thread.interrupted();
    }
    assertEquals(1, places.atWork());
    interrupted.release();
    running.release();
    assertEquals(0, places.admitted());
    assertNotNull(places.tryAdmit());
  }

  private static ExchangePermit suspended(ExchangePermit.PermitPool places) {
    var permit = places.tryAdmit();
    permit.suspend();
    return permit;
  }

  @Promise("27.4")
  @Test
  void boundsHoldForExchangesOfManyThreads() throws Exception {
    long seed = StressHarness.seed();
    System.out.println("permits of exchanges: -Dfibry.seed=" + seed);
    int limit = 1 + (int) (seed & 3);
    var places = pool(limit);
    var atWork = new AtomicInteger();
    var admitted = new AtomicInteger();
    var results = new ArrayList<CompletableFuture<Void>>();
    for (int t = 0; t < 12; t++) {
      var random = new Random(seed + t);
      var result = new CompletableFuture<Void>();
      results.add(result);
      Patience.startFiber(() -> {
        for (int i = 0; i < 3_000; i++) exchange(places, limit, random, atWork, admitted);
        return null;
      }, result);
    }
    for (var result : results) Patience.value(result);

    assertEquals(0, places.atWork());
    assertEquals(0, places.admitted());
    assertNotNull(places.tryAdmit());
  }

  /** Counts itself only while it is admitted, so the bounds hold for these counts, too. */
  private static void exchange(ExchangePermit.PermitPool places, int limit, Random random, AtomicInteger atWork,
      AtomicInteger admitted) {
    var permit = places.tryAdmit();
    if (permit == null) {
      Thread.yield();
      return;
    }
    assertTrue(admitted.incrementAndGet() <= 2 * limit);
    assertTrue(atWork.incrementAndGet() <= limit);
    for (int reads = random.nextInt(4); reads > 0; reads--) {
      atWork.decrementAndGet();
      permit.suspend();
      if (random.nextBoolean()) Thread.yield();
      permit.resume();
      assertTrue(atWork.incrementAndGet() <= limit);
      if (random.nextBoolean()) Thread.yield();
    }
    atWork.decrementAndGet();
    admitted.decrementAndGet();
    permit.release();
  }
}
