package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.net.BodyUpload.BodyLimits;
import io.fibry.net.BodyUpload.Kind;
import io.fibry.net.BodyUpload.Route;
import io.fibry.support.Patience;
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
 * A server with small limits, and many clients at once. Time is stopped while they send, so a
 * client that stalls is not cut off. Afterwards as many clients stall as can, and all places are
 * counted.
 */
final class BodyRound implements AutoCloseable {
  private static final int[] MAX_BODIES = {0, 1, 10, 100, 1_000, 9_000, 20_000};
  private static final Duration NEVER = Duration.ofDays(10_000);
  private static final Duration BODY_LIMIT = Duration.ofSeconds(5);

  private final SplittableRandom random;
  private final BodyLimits limits;
  private final ManualScheduler clock = new ManualScheduler();
  private final ServerScope net = new ServerScope(o -> o.withScheduler(clock));
  private final HttpServer server;
  private final int clients;
  private final BodyClient.Turns turns;
  private final Gate gate = new Gate();
  private final Gate together = new Gate(); // of those who stalled and went on
  private volatile boolean stalling;
  private final Map<Integer, BodyUpload> uploads = new ConcurrentHashMap<>(); // by number
  private final AtomicInteger inside = new AtomicInteger(); // handlers
  private final AtomicInteger atWork = new AtomicInteger(); // handlers that wait for no client
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  int answered; // clients
  int refused; // clients, at each try

  BodyRound(SplittableRandom random) {
    this.random = random;
    limits = new BodyLimits(1 + random.nextInt(4), MAX_BODIES[random.nextInt(MAX_BODIES.length)],
        1 + random.nextInt(40));
    clients = 8 + random.nextInt(13);
    turns = new BodyClient.Turns(clients);
    server = HttpServer.open(net.scope.anonymous(), 0, routes(),
        o -> o.withMaxExchanges(limits.maxExchanges()).withMaxBody(limits.maxBody()).withMaxFields(limits.maxFields())
            .withBodyLimit(BODY_LIMIT).withHeaderLimit(NEVER).withIdleLimit(NEVER).withWriteLimit(NEVER));
  }

  // ---- the server

  private HttpRoutes routes() {
    var routes = HttpRoutes.none().text("/gate", exchange -> handled(() -> {
      gate.passDeaf();
      return "passed";
    }));
    for (var route : Route.values()) {
      var path = "POST /" + route;
      routes = route == Route.PARTS || route == Route.EARLY ? routes.stream(path, this::stream)
          : routes.text(path, exchange -> uploaded(exchange, upload -> text(exchange, upload)));
    }
    return routes;
  }

  private <T> T uploaded(HttpExchange exchange, Handler.Returning<BodyUpload, T> handler) throws Exception {
    var upload = uploads.get(Integer.parseInt(exchange.queryParameter("n").orElseThrow()));
    upload.calls.incrementAndGet();
    return handled(() -> handler.handle(upload));
  }

  private <T> T handled(Callable<T> handler) throws Exception {
    int all = inside.incrementAndGet();
    if (all > 2 * limits.maxExchanges()) faults.add(all + " handlers have begun");
    work();
    try {
      return handler.call();
    } finally {
      atWork.decrementAndGet();
      inside.decrementAndGet();
    }
  }

  private void work() {
    int all = atWork.incrementAndGet();
    if (all > limits.maxExchanges()) faults.add(all + " handlers are at work");
  }

  /** Waits for the client, and is not at work. */
  private <T> T away(Callable<T> wait) throws Exception {
    atWork.decrementAndGet();
    try {
      return wait.call();
    } finally {
      work();
    }
  }

  private String text(HttpExchange exchange, BodyUpload upload) throws Exception {
    if (upload.route.reads()) upload.seen.append(latin(away(() -> {
      if (upload.route == Route.FORM) exchange.form();
      return exchange.bodyAsBytes();
    })));
    hold(upload);
    return switch (upload.route) {
      case NEVER -> upload.number + ":never";
      case FAILS -> throw new IllegalStateException("thrown by a test");
      case LATE -> throw new HttpException(409, upload.number + ":late");
      default -> upload.number + ":" + upload.seen;
    };
  }

  private void stream(HttpExchange exchange) throws Exception {
    uploaded(exchange, upload -> {
      write(exchange, upload.number + ":");
      if (upload.route == Route.EARLY) away(() -> {
        exchange.outputStream().flush();
        return null;
      });
      readParts(exchange.body(), upload);
      hold(upload);
      write(exchange, upload.seen.toString());
      return null;
    });
  }

  private void write(HttpExchange exchange, String text) throws Exception {
    away(() -> {
      exchange.outputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
      return null;
    });
  }

  private void readParts(InputStream body, BodyUpload upload) throws Exception {
    var sizes = new SplittableRandom(upload.number);
    for (int some = 0; some >= 0;) {
      var part = new byte[1 + sizes.nextInt(sizes.nextInt(4) == 0 ? 10_000 : 50)];
      some = away(() -> {
        if (part.length > 1) return body.read(part);
        int one = body.read();
        part[0] = (byte) one;
        return Math.min(one, 1);
      });
      if (some > 0) upload.seen.append(latin(part), 0, some);
    }
  }

  private static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private void hold(BodyUpload upload) {
    if (stalling) together.passDeaf();
    else if (upload.holds) Patience.await(turns.sent());
  }

  // ---- the round

  void play() throws Exception {
    crowd();
    quiet();
    stall();
    fill();
    judge();
    server.askExit();
    Patience.ended(server::waitForExit);
    assertEquals(List.of(), net.scope.closeWithin(Patience.LONG).unresponsive());
  }

  private BodyUpload added(BodyUpload upload) {
    uploads.put(upload.number, upload);
    return upload;
  }

  private BodyUpload upload(boolean last, boolean expects) {
    return added(new BodyUpload(uploads.size(), limits, random, last, expects));
  }

  private boolean expects() {
    return random.nextInt(4) == 0;
  }

  private void crowd() {
    var crowd = new ArrayList<BodyClient>();
    while (crowd.size() < clients) {
      var sent = random.nextInt(4) == 0 ? List.of(upload(false, false), upload(true, false))
          : List.of(upload(true, expects()));
      crowd.add(new BodyClient(server.port(), sent, turns, faults::add, random.split()));
    }
    var threads = crowd.stream().map(client -> Patience.startFiber(client::run)).toList();
    Patience.progress(this + ": clients are left", () -> threads.stream().filter(Thread::isAlive).count(),
        () -> threads.stream().noneMatch(Thread::isAlive));
    for (var client : crowd) {
      answered += client.wasHandled() ? 1 : 0;
      refused += client.refusals();
    }
  }

  /** No connection is left, nor a handler. */
  private void quiet() {
    Patience.eventually(this + ": connections are left", () -> net.scope.actors().size() == 1);
    judge();
    assertEquals(0, inside.get());
  }

  /** A client that has sent a part of its body. */
  private record Stalled(RawClient client, CompletableFuture<String> answer, BodyUpload upload, String rest) {
    void goOn() throws IOException {
      client.send(rest);
    }
  }

  /**
   * Lets as many clients stall as may run and wait. Then all continue, or are cut off, or leave.
   */
  private void stall() throws Exception {
    int then = random.nextInt(3);
    stalling = true;
    var stalled = new ArrayList<Stalled>();
    try {
      Patience.eventually(this + ": too few can stall", () -> {
        if (inside.get() < 2 * limits.maxExchanges())
          stallOne(then == 0 ? Kind.GOOD : Kind.GONE).ifPresent(stalled::add);
        return inside.get() >= 2 * limits.maxExchanges();
      });
      assertFull();
      if (then == 0) {
        for (var one : stalled) one.goOn();
        Patience.eventually(this + ": too few are at work", () -> atWork.get() >= limits.maxExchanges());
        together.open();
        for (var one : stalled) assertAnswered(one.upload.answer(), one.answer);
        return;
      }
      if (then == 1) {
        Patience.eventually(this + ": clients that stall are not cut off", () -> {
          clock.advance(BODY_LIMIT);
          return stalled.stream().allMatch(one -> one.answer.isDone());
        });
        for (var one : stalled) assertEquals("", withoutContinue(one.answer));
      }
    } finally {
      for (var one : stalled) one.client.close();
    }
    quiet();
  }

  /** Empty if it was refused, because the clients before it have not begun to wait. */
  private Optional<Stalled> stallOne(Kind kind) {
    int before = inside.get();
    var upload = added(new BodyUpload(uploads.size(), limits, random, Route.WHOLE, kind, true, true, expects()));
    int half = random.nextInt(upload.wire.length());
    try {
      var client = new RawClient(server.port()).send(upload.head + upload.wire.substring(0, half));
      var answer = client.allLater();
      Patience.eventually(this + ": neither handled nor refused", () -> inside.get() > before || answer.isDone());
      if (inside.get() > before) return Optional.of(new Stalled(client, answer, upload, upload.wire.substring(half)));
      assertRefused(answer);
      client.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    assertTrue(before >= limits.maxExchanges(),
        () -> this + " refuses, though only " + before + " handlers have begun");
    return Optional.empty();
  }

  /** Checks that as many exchanges run as may, and no more. */
  private void fill() throws Exception {
    var answers = new ArrayList<CompletableFuture<String>>();
    for (int i = 0; i < limits.maxExchanges(); i++) answers.add(ask());
    Patience.eventually(this + ": places are missing",
        () -> inside.get() == answers.size() || answers.stream().anyMatch(CompletableFuture::isDone));
    for (var answer : answers) assertTrue(!answer.isDone(), () -> this + ": a place is missing: " + answer);
    assertFull();
    gate.open();
    for (var answer : answers) assertAnswered("passed", answer);
  }

  private CompletableFuture<String> ask() throws IOException {
    return new RawClient(server.port()).send(RawClient.get("/gate")).allLater();
  }

  private static String withoutContinue(CompletableFuture<String> answer) {
    return Patience.value(answer).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
  }

  /** A further one is refused, instead of handled. */
  private void assertFull() throws IOException {
    int full = inside.get();
    var answer = ask();
    Patience.eventually(this + ": neither handled nor refused", () -> inside.get() > full || answer.isDone());
    assertEquals(full, inside.get(), () -> this + " has too many places");
    assertRefused(answer);
  }

  private void assertRefused(CompletableFuture<String> answer) {
    assertEquals("503", RawClient.codes(Patience.value(answer)), this::toString);
  }

  private void assertAnswered(String body, CompletableFuture<String> answer) {
    var got = withoutContinue(answer);
    assertEquals("200 " + body, RawClient.codes(got) + " " + got.substring(got.indexOf("\r\n\r\n") + 4), toString());
  }

  private void judge() {
    for (var upload : uploads.values()) {
      var fault = upload.judgeSeen();
      if (!fault.isEmpty()) faults.add(fault);
    }
    assertEquals("", String.join("\n", faults), toString());
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
