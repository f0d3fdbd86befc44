package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.StressRuns;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that clients may disconnect at any moment without harm to the server. */
class HttpChaosTest {
  private static final String HOST = " HTTP/1.1\r\nHost: a\r\n";
  private static final String[] REQUESTS =
      {"GET /t" + HOST + "\r\n", "GET /t" + HOST + "\r\nGET /s" + HOST + "\r\n", "GET /s" + HOST + "\r\n",
        "POST /t" + HOST + "Content-Length: 100000\r\n\r\n" + "x".repeat(100_000), "GET /e" + HOST + "\r\n",
        "POST /t" + HOST + "Transfer-Encoding: chunked\r\n\r\n" + "5\r\nabcde\r\n".repeat(1_000) + "0\r\n\r\n",
        "POST /t" + HOST + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n", "GET /f" + HOST + "\r\n"};

  private static final int MIN_RESPONSE_LENGTH = "HTTP/1.1 100 Continue\r\n\r\n".length();

  private final long seed = StressRuns.seed();
  private final AtomicInteger runningHandlers = new AtomicInteger();

  private HttpRoutes routes() {
    return HttpRoutes.none().text("/t", exchange -> countRunning(exchange::bodyAsText))
        .stream("/s", exchange -> countRunning(() -> {
          for (int i = 0; i < 100; i++) exchange.outputStream().write(new byte[10_000]);
          return "";
        })).stream("/e", exchange -> countRunning(() -> {
          var client = exchange.eventActor();
          for (int i = 0; i < 100; i++) client.sendMessage("x".repeat(10_000));
          return "";
        })).text("/f", exchange -> countRunning(() -> {
          throw new IllegalStateException("thrown by a test");
        }));
  }

  private String countRunning(java.util.concurrent.Callable<String> code) throws Exception {
    runningHandlers.incrementAndGet();
    try {
      return code.call();
    } finally {
      runningHandlers.decrementAndGet();
    }
  }

  @Test
  void disconnectedClientsLeaveNoHandlersOrDescriptors() throws Exception {
    try (ActorScope scope = ActorSystem.openScope("chaos", o -> o); var logged = new Logged()) {
      var server = HttpServer.open(scope.anonymous(), 0, routes(), o -> o.withMaxExchanges(8));
      RawClient.sendAndReadAll(server.port(), RawClient.get("/t"));
      long descriptorsBefore = Descriptors.countOpenIfShown();
      var clients = new ArrayList<Thread>();
      var disconnects = new AtomicInteger();
      for (int i = 0; i < 8; i++) {
        var random = new Random(seed + i);
        clients.add(Patience.startFiber(() -> {
          for (int n = 0; n < 60; n++, disconnects.incrementAndGet()) sendAndDisconnect(server.port(), random);
        }));
      }
      Patience.progress(disconnects::get, () -> clients.stream().noneMatch(Thread::isAlive));
      clients.forEach(Patience::awaitEnd);

      RawClient.awaitAcceptance(server.port());
      Patience.eventually(() -> runningHandlers.get() == 0 && Descriptors.countOpenIfShown() <= descriptorsBefore);
      for (int i = 0; i < 8; i++)
        assertEquals("200", RawClient.codes(RawClient.sendAndReadAll(server.port(), RawClient.get("/t"))),
            "seed " + seed);
      server.close();
      for (var line : logged.entriesAbout("io.fibry.net.").split("\n"))
        assertFalse(line.contains("ERROR") && !line.contains(" of GET /f was answered"),
            () -> "seed " + seed + ": " + line);
    }
  }

  /** Sends a request or a part of it, reads a part of the response or nothing, and disconnects. */
  private static void sendAndDisconnect(int port, Random random) {
    try (var client = new RawClient(port)) {
      if (random.nextBoolean()) client.socket.setSoLinger(true, 0);
      var request = REQUESTS[random.nextInt(REQUESTS.length)];
      boolean isComplete = random.nextInt(4) > 0;
      client.send(isComplete ? request : request.substring(0, random.nextInt(request.length())));
      boolean endsOutput = random.nextBoolean();
      // the server then responds to an incomplete request, too, or closes
      if (endsOutput) client.socket.shutdownOutput();
      if ((isComplete || endsOutput) && random.nextBoolean())
        client.socket.getInputStream().readNBytes(random.nextInt(endsOutput ? 200 : MIN_RESPONSE_LENGTH));
    } catch (IOException refusal) {
      // the server refused the client or closed the connection
    }
  }

  @Test
  void endedServerIsGarbageAndLeavesNoThread() throws Exception {
    var server = new WeakReference<>(openAndClose());

    assertTrue(LeakProbe.collected(server));
    assertFalse(Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().startsWith("leaky")));
  }

  private HttpServer openAndClose() throws IOException {
    var server = HttpServer.open(ActorSystem.named("leaky"), 0, routes(), o -> o);
    try (var client = new RawClient(server.port())) {
      client.send(REQUESTS[0]).readResponse();
      server.close();
    }
    return server;
  }
}
