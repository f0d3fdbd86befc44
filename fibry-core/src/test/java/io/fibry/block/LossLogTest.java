package io.fibry.block;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.HttpExchange;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.net.ServerScope;
import io.fibry.net.UdpServer;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the lines about losses that may happen often. */
class LossLogTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final BreakableClock breakable = new BreakableClock(clock);
  private final CompletableFuture<Object> end = new CompletableFuture<>();
  private final LinkedBlockingQueue<String> written = new LinkedBlockingQueue<>();
  private final LossLog log = new LossLog(breakable, end, new LossLog.Writer() {
    @Override
    public void begun() {
      written.add("begun");
    }

    @Override
    public void continued(long count) {
      written.add("continued " + count);
    }

    @Override
    public void ended(long totalCount) {
      written.add("ended " + totalCount);
    }
  });

  private void lose(int count) {
    for (int i = 0; i < count; i++) log.countLoss();
  }

  private void assertNext(String line) {
    assertEquals(line, Patience.nextOf(written));
  }

  @Test
  void firstLossIsLoggedAtOnceAndOthersOnceMinute() {
    lose(1);
    assertNext("begun");
    lose(4);
    clock.advance(MINUTE.minusNanos(1));
    assertEquals(List.of(), List.copyOf(written));

    clock.advance(Duration.ofNanos(1));
    assertNext("continued 4");
    lose(2);
    clock.advance(MINUTE);
    assertNext("continued 2");
  }

  @Test
  void endIsLoggedAfterMinuteWithoutLoss() {
    lose(3);
    assertNext("begun");
    clock.advance(MINUTE);
    assertNext("continued 2");
    clock.advance(MINUTE);
    assertNext("ended 3");
    assertEquals("Optional.empty", "" + clock.untilNext());

    lose(1);
    assertNext("begun");
    clock.advance(MINUTE);
    assertNext("ended 1");
  }

  @Test
  void endOfServerLogsRest() {
    lose(5);
    assertNext("begun");

    end.complete("end");

    assertNext("ended 5");
    assertEquals("Optional.empty", "" + clock.untilNext());
    lose(1);
    assertEquals(List.of(), List.copyOf(written));
  }

  @Test
  void brokenClockLosesNoLossAndIsTriedOnceMinute() {
    breakable.isBroken.set(true);
    lose(3);
    assertNext("begun");
    clock.advance(MINUTE.minusNanos(1));
    lose(1);
    assertEquals("1 []", breakable.refusals + " " + written);

    clock.advance(Duration.ofNanos(1));
    lose(2);
    assertNext("continued 4");
    assertEquals("2 []", breakable.refusals + " " + written);

    breakable.isBroken.set(false);
    clock.advance(MINUTE);
    lose(1);
    assertNext("continued 2");
    lose(1);
    breakable.isBroken.set(true);
    clock.advance(MINUTE);
    assertNext("continued 1");
    lose(1);
    assertEquals("3 []", breakable.refusals + " " + written);

    end.complete("end");
    assertNext("ended 9");
    assertEquals("[]", "" + written);
  }

  @Test
  void logEndsByTimerAfterClockHasRecovered() {
    breakable.isBroken.set(true);
    lose(2);
    assertNext("begun");
    breakable.isBroken.set(false);
    clock.advance(MINUTE);
    lose(1);
    assertNext("continued 2");
    clock.advance(MINUTE);
    assertNext("ended 3");

    lose(1);
    assertNext("begun");
  }

  @Test
  void noLossIsMissingInLinesOfManyThreads() {
    var threads = List.of(1, 2, 3, 4).stream().map(i -> Patience.callOnFiber(() -> {
      for (int j = 0; j < 1_000; j++) {
        log.countLoss();
        if (i == 1 && j % 100 == 0) clock.advance(MINUTE);
      }
      return i;
    })).toList();
    threads.forEach(Patience::value);
    Patience.eventually(() -> {
      clock.advance(MINUTE);
      return sum("ended ") == 4_000 && written.stream().filter("begun"::equals).count() + sum("continued ") == 4_000;
    });
    written.clear();
    end.complete("end");
    assertEquals("[]", "" + written);
  }

  private long sum(String beginning) {
    return written.stream().filter(line -> line.startsWith(beginning))
        .mapToLong(line -> Long.parseLong(line.substring(beginning.length()))).sum();
  }

  @Promise("27.46")
  @Test
  void refusalsOfFullServerAreLogged() throws Exception {
    try (var net = new ServerScope(options -> options.withScheduler(clock)); var logged = new Logged()) {
      var gate = new Gate();
      var server = HttpServer.open(net.scope.named("refusing"), 0, HttpRoutes.none().text("GET /", exchange -> {
        gate.passUninterruptibly();
        return "x";
      }), options -> options.withMaxExchanges(1));
      try (var busy = request(server.port())) {
        Patience.await(gate.entered);
        assertEquals(List.of(), logged.lines("'refusing'"));
        for (int i = 0; i < 3; i++) try (var refused = request(server.port())) {
          assertEquals("HTTP/1.1 503 ", new String(refused.getInputStream().readNBytes(13), StandardCharsets.UTF_8));
        }
        Patience.eventually(() -> server.stats().getFirst().responses().unavailable() == 3);
        Patience.eventually(() -> logged.lines("'refusing'").size() == 1);
        assertLine(logged, 0,
            " is full and refuses requests with 503; now 1 exchange is at work (at most 1) and 0 wait for "
                + "their clients (together at most 2); find slow handlers with dump() or the dashboard, or raise ");
        clock.advance(MINUTE);
        Patience.eventually(() -> logged.lines("'refusing'").size() == 2);
        assertLine(logged, 1, " was full and refused 2 more requests with 503 since the last such line, ");
        clock.advance(MINUTE);
        Patience.eventually(() -> logged.lines("'refusing'").size() == 3);
        assertLine(logged, 2, " has stopped refusing requests; while it was full, it refused 3 requests with 503");
        gate.open();
        assertEquals("HTTP/1.1 200 ", new String(busy.getInputStream().readNBytes(13), StandardCharsets.UTF_8));
      }
    }
  }

  @Promise("27.46")
  @Test
  void refusalsBecauseOfSlowClientsNameTheseClients() throws Exception {
    try (var net = new ServerScope(options -> options.withScheduler(clock)); var logged = new Logged()) {
      var server = HttpServer.open(net.scope.named("refusing"), 0,
          HttpRoutes.none().text("POST /", HttpExchange::bodyAsText), options -> options.withMaxExchanges(1));
      var half = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nha";
      try (var first = new RawClient(server.port()); var second = new RawClient(server.port())) {
        first.send(half);
        Patience.eventually(() -> server.load().waiting() == 1);
        second.send(half);
        Patience.eventually(() -> server.load().waiting() == 2);

        assertEquals("503", RawClient.codes(RawClient.sendAndReadAll(server.port(), half + "lf")));

        Patience.eventually(() -> logged.lines("'refusing'").size() == 1);
        assertLine(logged, 0, " is full and refuses requests with 503; now 0 exchanges are at work (at most 1) and 2 "
            + "wait for their clients (together at most 2); cut off slow clients earlier with withBodyLimit or "
            + "withWriteLimit, or raise withMaxExchanges; further refusals are counted in one line a minute");
      }
    }
  }

  private static void assertLine(Logged logged, int index, String part) {
    var line = logged.lines("'refusing'").get(index);
    assertEquals(part, line.contains(part) ? part : line);
  }

  private static Socket request(int port) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  @Promise("26.2")
  @Test
  void droppedPacketsAreLogged() throws Exception {
    try (var net = new ServerScope(options -> options.withScheduler(clock));
        var logged = new Logged();
        var peer = new DatagramSocket()) {
      var server = UdpServer.open(net.scope.named("refusing"), 0, (self, packet) -> {},
          options -> options.withRate(1, Duration.ofHours(1)));
      for (int i = 0; i < 4; i++)
        peer.send(new DatagramPacket(new byte[1], 1, InetAddress.getLoopbackAddress(), server.port()));
      Patience.eventually(() -> server.dropped() == 3 && logged.lines("drops packets, because").size() == 1);
      server.sendPoisonPill();
      Patience.eventually(() -> logged.lines("has stopped dropping packets; it dropped 3 packets").size() == 1);
    }
  }

  /** A clock that sets no timers while it is broken. */
  private static final class BreakableClock extends Clock {
    private final AtomicBoolean isBroken = new AtomicBoolean();
    private final AtomicInteger refusals = new AtomicInteger();

    BreakableClock(Scheduler clock) {
      super(clock);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      if (!isBroken.get()) return super.schedule(delay, task);
      if (refusals.incrementAndGet() % 2 == 0) throw new RejectedExecutionException("planned");
      throw new InternalError("planned");
    }
  }
}
