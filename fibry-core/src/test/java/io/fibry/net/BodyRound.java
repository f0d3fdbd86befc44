package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Handler;
import io.fibry.net.BodyUpload.BodyLimits;
import io.fibry.net.BodyUpload.Kind;
import io.fibry.net.BodyUpload.Route;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs a server with small limits and many clients at once. The clock does not advance while the
 * clients send, so no client that stalls is cut off. Afterwards as many clients stall as the limits
 * allow, and the round checks that no permit of the server is missing.
 */
final class BodyRound implements AutoCloseable {
  private static final int[] MAX_BODY_SIZES = {0, 1, 10, 100, 1_000, 9_000, 20_000};
  private static final Duration NEVER = Duration.ofDays(10_000);
  private static final Duration BODY_LIMIT = Duration.ofSeconds(5);

  private final SplittableRandom random;
  private final BodyLimits limits;
  private final ManualScheduler clock = new ManualScheduler();
  private final ServerScope net = new ServerScope(o -> o.withScheduler(clock));
  private final HttpServer server;
  private final int clients;
  private final BodyClient.Phases phases;
  private final Gate gate = new Gate();
  private final Gate resumeGate = new Gate(); // passed by handlers whose clients have resumed
  private volatile boolean stalling;
  private volatile boolean clientsResume; // if false, no client that stalls sends the rest of its body
  // The clock advances beyond the longest wait for a permit, so more handlers than the limit may
  // be at work
  private volatile boolean cuttingOff;
  private final Map<Integer, BodyUpload> uploads = new ConcurrentHashMap<>(); // keys: the numbers of the uploads
  private final AtomicInteger begunHandlers = new AtomicInteger(); // including handlers that wait for their clients
  private final AtomicInteger workingHandlers = new AtomicInteger(); // handlers that wait for no client
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  int answeredClients; // clients that got a response
  int refusedAttempts; // refused attempts of clients

  BodyRound(SplittableRandom random) {
    this.random = random;
    limits = new BodyLimits(1 + random.nextInt(4), MAX_BODY_SIZES[random.nextInt(MAX_BODY_SIZES.length)],
        1 + random.nextInt(40));
    clients = 8 + random.nextInt(13);
    phases = new BodyClient.Phases(clients);
    server = HttpServer.open(net.scope.anonymous(), 0, routes(),
        o -> o.withMaxExchanges(limits.maxExchanges()).withMaxBody(limits.maxBody()).withMaxFields(limits.maxFields())
            .withBodyLimit(BODY_LIMIT).withHeaderLimit(NEVER).withIdleLimit(NEVER).withWriteLimit(NEVER));
  }

  // ---- the server

  private HttpRoutes routes() {
    var routes = HttpRoutes.none().text("/gate", exchange -> countHandler(() -> {
      gate.passUninterruptibly();
      return "passed";
    }));
    for (var route : Route.values()) {
      var path = "POST /" + route;
      routes = route == Route.PARTS || route == Route.EARLY ? routes.stream(path, this::stream)
          : routes.text(path, exchange -> handleUpload(exchange, upload -> text(exchange, upload)));
    }
    return routes;
  }

  private <T> T handleUpload(HttpExchange exchange, Handler.Returning<BodyUpload, T> handler) throws Exception {
    var upload = uploads.get(Integer.parseInt(exchange.queryParameter("n").orElseThrow()));
    upload.calls.incrementAndGet();
    return countHandler(() -> handler.handle(upload));
  }

  private <T> T countHandler(Callable<T> handler) throws Exception {
    int count = begunHandlers.incrementAndGet();
    if (count > 2 * limits.maxExchanges()) violations.add(count + " handlers have begun");
    beginWork();
    try {
      return handler.call();
    } finally {
      workingHandlers.decrementAndGet();
      begunHandlers.decrementAndGet();
    }
  }

  private void beginWork() {
    int count = workingHandlers.incrementAndGet();
    if (count > limits.maxExchanges() && !cuttingOff) violations.add(count + " handlers are at work");
  }

  /**
   * Runs code that waits for the client. During this wait the handler does not count as working.
   */
  private <T> T waitForClient(Callable<T> wait) throws Exception {
    workingHandlers.decrementAndGet();
    try {
      return wait.call();
    } finally {
      beginWork();
    }
  }

  private String text(HttpExchange exchange, BodyUpload upload) throws Exception {
    if (upload.route.readsBody()) upload.received.append(toLatin1(waitForClient(() -> {
      if (upload.route == Route.FORM) exchange.form();
      return exchange.bodyAsBytes();
    })));
    hold(upload);
    return switch (upload.route) {
      case NEVER -> upload.number + ":never";
      case FAILS -> throw new IllegalStateException("thrown by a test");
      case LATE -> throw new HttpException(409, upload.number + ":late");
      default -> upload.number + ":" + upload.received;
    };
  }

  private void stream(HttpExchange exchange) throws Exception {
    handleUpload(exchange, upload -> {
      write(exchange, upload.number + ":");
      if (upload.route == Route.EARLY) waitForClient(() -> {
        exchange.outputStream().flush();
        return null;
      });
      readParts(exchange.body(), upload);
      hold(upload);
      write(exchange, upload.received.toString());
      return null;
    });
  }

  private void write(HttpExchange exchange, String text) throws Exception {
    waitForClient(() -> {
      exchange.outputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
      return null;
    });
  }

  private void readParts(InputStream body, BodyUpload upload) throws Exception {
    var sizes = new SplittableRandom(upload.number);
    for (int count = 0; count >= 0;) {
      var part = new byte[1 + sizes.nextInt(sizes.nextInt(4) == 0 ? 10_000 : 50)];
      count = waitForClient(() -> {
        if (part.length > 1) return body.read(part);
        int value = body.read();
        part[0] = (byte) value;
        return Math.min(value, 1);
      });
      if (count > 0) upload.received.append(toLatin1(part), 0, count);
    }
  }

  private static String toLatin1(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private void hold(BodyUpload upload) {
    if (stalling && !clientsResume) violations.add(upload + " has a complete body, though its client stalls");
    else if (stalling) resumeGate.passUninterruptibly();
    else if (upload.holdsResponse) Patience.await(phases.sent());
  }

  // ---- the round

  void run() throws Exception {
    runCrowd();
    awaitQuiet();
    stallClients();
    fillPermits();
    checkUploads();
    server.askExit();
    Patience.awaitEnd(server::waitForExit);
    assertEquals(List.of(), net.scope.closeWithin(Patience.LONG).unresponsive());
  }

  private BodyUpload register(BodyUpload upload) {
    uploads.put(upload.number, upload);
    return upload;
  }

  private BodyUpload upload(boolean isLast, boolean expectsContinue) {
    return register(new BodyUpload(uploads.size(), limits, random, isLast, expectsContinue));
  }

  private boolean expectsContinue() {
    return random.nextInt(4) == 0;
  }

  private void runCrowd() {
    var crowd = new ArrayList<BodyClient>();
    while (crowd.size() < clients) {
      var requests = random.nextInt(4) == 0 ? List.of(upload(false, false), upload(true, false))
          : List.of(upload(true, expectsContinue()));
      crowd.add(new BodyClient(server.port(), requests, phases, violations::add, random.split()));
    }
    var threads = crowd.stream().map(client -> Patience.startFiber(client::run)).toList();
    Patience.progress(this + ": clients are left", () -> threads.stream().filter(Thread::isAlive).count(),
        () -> threads.stream().noneMatch(Thread::isAlive));
    threads.forEach(Patience::awaitEnd);
    for (var client : crowd) {
      answeredClients += client.wasNotRefused() ? 1 : 0;
      refusedAttempts += client.refusals();
    }
  }

  /** Waits until the server has no connection and no running handler. */
  private void awaitQuiet() throws IOException {
    RawClient.awaitAcceptance(server.port());
    Patience.eventually(this + ": connections are left", () -> net.scope.actors().size() == 1);
    checkUploads();
    assertEquals(0, begunHandlers.get());
  }

  /** A client that has sent only a part of its body. */
  private record StalledClient(RawClient socket, CompletableFuture<String> response, BodyUpload upload, String unsent) {
    void resume() throws IOException {
      socket.send(unsent);
    }
  }

  /**
   * Lets as many clients stall as the server admits, which is twice the number of exchanges that
   * may work. Afterwards all of these clients resume, are cut off, or disconnect.
   */
  private void stallClients() throws Exception {
    int ending = random.nextInt(3);
    clientsResume = ending == 0;
    stalling = true;
    var stalledClients = new ArrayList<StalledClient>();
    try {
      Patience.eventually(this + ": too few can stall", () -> {
        if (begunHandlers.get() < 2 * limits.maxExchanges())
          stallClient(ending == 0 ? Kind.GOOD : Kind.GONE).ifPresent(stalledClients::add);
        return begunHandlers.get() >= 2 * limits.maxExchanges();
      });
      assertFull();
      if (ending == 0) {
        for (var client : stalledClients) client.resume();
        Patience.eventually(this + ": too few are at work", () -> workingHandlers.get() >= limits.maxExchanges());
        resumeGate.open();
        for (var client : stalledClients) assertAnswered(client.upload.expectedBody(), client.response);
        return;
      }
      if (ending == 1) {
        cuttingOff = true;
        Patience.eventually(this + ": clients that stall are not cut off", () -> {
          clock.advance(BODY_LIMIT);
          return stalledClients.stream().allMatch(client -> client.response.isDone());
        });
        for (var client : stalledClients) assertEquals("", withoutContinue(client.response));
      }
    } finally {
      for (var client : stalledClients) client.socket.close();
    }
    awaitQuiet();
  }

  /**
   * Returns an empty Optional if the server refuses the client, because handlers of earlier clients
   * have not begun to wait.
   */
  private Optional<StalledClient> stallClient(Kind kind) {
    int handlersBefore = begunHandlers.get();
    var upload =
        register(new BodyUpload(uploads.size(), limits, random, Route.WHOLE, kind, true, true, expectsContinue()));
    int sentLength = random.nextInt(upload.wire.length());
    try {
      var client = new RawClient(server.port()).send(upload.head + upload.wire.substring(0, sentLength));
      var response = client.readToEndLater();
      Patience.eventually(this + ": neither handled nor refused",
          () -> begunHandlers.get() > handlersBefore || response.isDone());
      if (begunHandlers.get() > handlersBefore)
        return Optional.of(new StalledClient(client, response, upload, upload.wire.substring(sentLength)));
      assertRefused(response);
      client.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    assertTrue(handlersBefore >= limits.maxExchanges(),
        () -> this + " refuses a client, though only " + handlersBefore + " handlers have begun");
    return Optional.empty();
  }

  /** Checks that as many exchanges can work as the limit allows, and that one more is refused. */
  private void fillPermits() throws Exception {
    var responses = new ArrayList<CompletableFuture<String>>();
    for (int i = 0; i < limits.maxExchanges(); i++) responses.add(sendGateRequest());
    Patience.eventually(this + ": permits are missing",
        () -> begunHandlers.get() == responses.size() || responses.stream().anyMatch(CompletableFuture::isDone));
    for (var response : responses) assertTrue(!response.isDone(), () -> this + ": a permit is missing: " + response);
    assertFull();
    gate.open();
    for (var response : responses) assertAnswered("passed", response);
  }

  private CompletableFuture<String> sendGateRequest() throws IOException {
    return new RawClient(server.port()).send(RawClient.get("/gate")).readToEndLater();
  }

  private static String withoutContinue(CompletableFuture<String> response) {
    return Patience.value(response).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
  }

  /** Checks that the server refuses another request, and does not handle it. */
  private void assertFull() throws IOException {
    int handlersBefore = begunHandlers.get();
    var response = sendGateRequest();
    Patience.eventually(this + ": neither handled nor refused",
        () -> begunHandlers.get() > handlersBefore || response.isDone());
    assertEquals(handlersBefore, begunHandlers.get(), () -> this + " has too many permits");
    assertRefused(response);
  }

  private void assertRefused(CompletableFuture<String> response) {
    assertEquals("503", RawClient.codes(Patience.value(response)), this::toString);
  }

  private void assertAnswered(String body, CompletableFuture<String> response) {
    var responseText = withoutContinue(response);
    assertEquals("200 " + body,
        RawClient.codes(responseText) + " " + responseText.substring(responseText.indexOf("\r\n\r\n") + 4), toString());
  }

  private void checkUploads() {
    for (var upload : uploads.values()) {
      var violation = upload.findBodyError();
      if (!violation.isEmpty()) violations.add(violation);
    }
    assertEquals("", String.join("\n", violations), toString());
  }

  @Override
  public void close() {
    net.close();
  }

  @Override
  public String toString() {
    return clients + " clients of a server with " + limits;
  }
}
