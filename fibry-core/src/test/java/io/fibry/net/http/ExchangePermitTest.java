package io.fibry.net.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.net.socket.ExchangePermit;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

/** Tests when an exchange holds a permit to work, mostly on a server with one permit. */
class ExchangePermitTest {
  // the clock does not advance, so no limit cuts off slow clients
  private final ActorScope scope = ActorSystem.openScope("permits", o -> o.withScheduler(new ManualScheduler()));
  private HttpServer server;

  private void open(UnaryOperator<HttpRoutes> routes) {
    server = HttpServer.open(scope.anonymous(), 0, routes.apply(HttpRoutes.none()), o -> o.withMaxExchanges(1));
  }

  private String codes(String request) throws IOException {
    return RawClient.codes(RawClient.sendAndReadAll(server.port(), request));
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

      var refusal = RawClient.sendAndReadAll(server.port(), RawClient.get("/"));
      gate.open();

      assertTrue(refusal.startsWith("HTTP/1.1 503 ") && refusal.contains("\r\nRetry-After: 1\r\n")
          && refusal.contains("\r\nConnection: close\r\n"), refusal);
      assertTrue(first.readToEnd().endsWith("waited"));
      assertEquals("200", codes(RawClient.get("/")));
    }
  }

  @Promise("27.4")
  @Test
  void exchangesThatWaitForClientsDoNotBlockOtherExchanges() throws Exception {
    var handlerBegun = new CountDownLatch(1);
    var eventClientReady = new CountDownLatch(1);
    open(routes -> routes.text("/", exchange -> "").text("/slow", exchange -> {
      handlerBegun.countDown();
      return "took " + exchange.bodyAsText();
    }).stream("/news", exchange -> {
      var client = exchange.eventActor();
      eventClientReady.countDown();
      client.waitForExit();
    }));
    try (var slowClient = new RawClient(server.port()); var eventClient = new RawClient(server.port())) {
      slowClient.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
      Patience.await(handlerBegun);
      // the slow exchange holds the only permit until it has read the two bytes and waits for more
      Patience.eventually(() -> {
        try {
          return codes(RawClient.get("/")).equals("200");
        } catch (IOException failure) {
          throw new AssertionError(failure);
        }
      });

      eventClient.send(RawClient.get("/news"));
      Patience.await(eventClientReady);

      assertEquals("200", codes(RawClient.get("/")));
      assertTrue(slowClient.send("lf").readResponse().endsWith("took half"));
    }
  }

  @Test
  void busyServerAnswersExpectContinueRequestWith503() throws Exception {
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
  void otherRequestIsAdmittedOnceClientHasItsResponse(@TempDir Path root) throws Exception {
    Files.writeString(root.resolve("index.html"), "x");
    Files.createDirectory(root.resolve("sub"));
    open(routes -> routes.text("/", exchange -> "x").stream("/stream", exchange -> exchange.outputStream().write('x'))
        .files("/files", root).stream("/news", exchange -> exchange.eventActor().waitForExit()));
    for (int i = 0; i < 20; i++) {
      try (var firstClient = new RawClient(server.port());
          var secondClient = new RawClient(server.port());
          var eventClient = new RawClient(server.port())) {
        for (var path : List.of("/", "/stream", "/files/", "/files/sub")) {
          for (var client : List.of(firstClient, secondClient)) {
            var response = client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").readResponse();

            assertEquals(path.endsWith("sub") ? "301" : "200", RawClient.codes(response), path);
          }
        }
        assertEquals("200", RawClient.codes(eventClient.send(RawClient.get("/news")).readResponse()));
      }
    }
  }

  @Promise("27.4")
  @Test
  void permitIsReleasedBeforeResponseIsSent() throws Exception {
    var routes = RouteTable.EMPTY.withText("/", exchange -> "x")
        .withRoute("/stream", exchange -> exchange.outputStream().write('x'));
    for (var path : List.of("/", "/stream")) {
      var permits = pool(1);
      var workingWhenSent = new AtomicInteger(-1);
      var response = new ServerResponse(new OutputStream() {
        @Override
        public void write(int value) {
          workingWhenSent.set(permits.atWork());
        }
      }, true, false, true, false);
      response.permit = permits.tryAdmit();
      var route = routes.find("GET", path);
      var exchange = new ServerExchange(null, null, null, null, response, route.pattern(), routes.settings, null);

      route.handler().handle(exchange);
      exchange.finish();

      assertEquals(0, workingWhenSent.get(), path);
      assertEquals(0, permits.atWork(), path); // finish() does not change the count
    }
  }

  @Test
  void refusedExchangeTakesNoPermit() {
    var permits = pool(1);
    var suspendedPermit = admitAndSuspend(permits);
    admitAndSuspend(permits); // now as many exchanges are admitted as possible, twice the limit
    var stop = new AtomicBoolean();
    var admittedCount = new AtomicInteger();
    var refusedThread = new Thread(() -> {
      while (!stop.get()) if (permits.tryAdmit() != null) admittedCount.incrementAndGet();
    });
    refusedThread.start();
    try {
      for (int i = 0; i < 1_000_000; i++) {
        assertEquals(0, permits.atWork());
        assertEquals(2, permits.admitted());
        assertEquals(0, admittedCount.get());
        suspendedPermit.resume();
        assertEquals(1, permits.atWork());
        suspendedPermit.suspend();
      }
    } finally {
      stop.set(true);
      Patience.awaitEnd(refusedThread);
    }
  }

  @Promise("27.4")
  @Test
  void suspendedExchangeResumesWhileOthersStaySuspended() {
    var permits = pool(3);
    var suspendedPermits = Stream.generate(() -> admitAndSuspend(permits)).limit(6).toList();

    assertNull(permits.tryAdmit());
    for (var permit : suspendedPermits) {
      permit.resume(); // must not wait forever
      assertEquals(1, permits.atWork());
      permit.suspend();
    }
    suspendedPermits.forEach(ExchangePermit::release);
    suspendedPermits.forEach(ExchangePermit::release);
    assertEquals(0, permits.admitted());
  }

  private static ExchangePermit.PermitPool pool(int limit) {
    return new ExchangePermit.PermitPool(limit, () -> 0);
  }

  /**
   * Prevents a deadlock: a working exchange may wait for a lock that another exchange holds while
   * it waits for a permit to work.
   */
  @Promise("27.4")
  @Test
  void waitingExchangeResumesWithoutPermitAfterTenSeconds() {
    var time = new AtomicLong();
    var permits = new ExchangePermit.PermitPool(1, time::get);
    var suspendedPermit = admitAndSuspend(permits);
    var runningPermit = permits.tryAdmit();
    var resumingThread = new Thread(suspendedPermit::resume);
    resumingThread.start();
    try {
      Patience.eventually(() -> permits.tryAdmit() == null && resumingThread.getState() == Thread.State.TIMED_WAITING);
      time.set(ExchangePermit.MAX_WAIT.toNanos() - 1);
      assertEquals(1, permits.atWork());
    } finally {
      time.set(ExchangePermit.MAX_WAIT.toNanos());
      Patience.awaitEnd(resumingThread);
    }
    assertEquals(2, permits.atWork());
    assertNull(permits.tryAdmit());

    suspendedPermit.release();
    assertNull(permits.tryAdmit());
    runningPermit.release();
    assertNotNull(permits.tryAdmit());
  }

  @Test
  void interruptedExchangeResumesWithoutWaitingForPermit() {
    var permits = pool(1);
    var interruptedPermit = admitAndSuspend(permits);
    var runningPermit = permits.tryAdmit();
    Thread.currentThread().interrupt();
    try {
      interruptedPermit.resume();
      assertTrue(Thread.currentThread().isInterrupted());
    } finally {
      Thread.interrupted();
    }
    assertEquals(1, permits.atWork());
    interruptedPermit.release();
    runningPermit.release();
    assertEquals(0, permits.admitted());
    assertNotNull(permits.tryAdmit());
  }

  private static ExchangePermit admitAndSuspend(ExchangePermit.PermitPool permits) {
    var permit = permits.tryAdmit();
    permit.suspend();
    return permit;
  }

  @Promise("27.4")
  @Test
  void permitLimitsHoldForExchangesOfManyThreads() throws Exception {
    long seed = StressRuns.seed();
    System.out.println("exchange permits: -Dfibry.seed=" + seed);
    int limit = 1 + (int) (seed & 3);
    var permits = pool(limit);
    var workingCount = new AtomicInteger();
    var admittedCount = new AtomicInteger();
    var results = new ArrayList<CompletableFuture<Void>>();
    for (int t = 0; t < 12; t++) {
      var random = new Random(seed + t);
      var result = new CompletableFuture<Void>();
      results.add(result);
      Patience.startFiber(() -> {
        for (int i = 0; i < 3_000; i++) exchange(permits, limit, random, workingCount, admittedCount);
        return null;
      }, result);
    }
    for (var result : results) Patience.value(result);

    assertEquals(0, permits.atWork());
    assertEquals(0, permits.admitted());
    assertNotNull(permits.tryAdmit());
  }

  /**
   * Counts the exchange only while it is admitted or working, so that the limits also hold for the
   * counts of the test.
   */
  private static void exchange(ExchangePermit.PermitPool permits, int limit, Random random, AtomicInteger workingCount,
      AtomicInteger admittedCount) {
    var permit = permits.tryAdmit();
    if (permit == null) {
      Thread.yield();
      return;
    }
    assertTrue(admittedCount.incrementAndGet() <= 2 * limit);
    assertTrue(workingCount.incrementAndGet() <= limit);
    for (int reads = random.nextInt(4); reads > 0; reads--) {
      workingCount.decrementAndGet();
      permit.suspend();
      if (random.nextBoolean()) Thread.yield();
      permit.resume();
      assertTrue(workingCount.incrementAndGet() <= limit);
      if (random.nextBoolean()) Thread.yield();
    }
    workingCount.decrementAndGet();
    admittedCount.decrementAndGet();
    permit.release();
  }
}
