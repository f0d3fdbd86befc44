package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskCycleException;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.io.Descriptors;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A TCP acceptor among bad handlers, bad clients and bad input. */
@SuppressWarnings("try") // an unused client
class TcpAcceptorTest {
  private final ServerScope served = new ServerScope();

  @AfterEach
  void close() {
    served.close();
  }

  private static void answers(int port) {
    try (var peer = new Peer(port).send("x")) {
      assertEquals("k", peer.rest());
    }
  }

  private static void answer(TcpConnection connection) throws IOException {
    connection.inputStream().read();
    connection.outputStream().write('k');
  }

  // ---- bad input

  @Test
  void portInUseIsRefusedAtOnceAndNameStaysFree() throws Exception {
    try (var taken = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
      var how = served.scope.named("server");

      var refused = assertThrows(UncheckedIOException.class,
          () -> TcpAcceptor.open(how, taken.getLocalPort(), TcpAcceptorTest::answer, o -> o));

      assertInstanceOf(BindException.class, refused.getCause());
      assertTrue(refused.getMessage().matches("cannot listen on localhost/127.0.0.1:" + taken.getLocalPort()
          + ": Address already in use.*; end what listens there, or give another port or address \\(port 0: any free "
          + "port\\)"),
          refused.getMessage());
      answers(TcpAcceptor.open(how, 0, TcpAcceptorTest::answer, o -> o).port());
    }
  }

  @Test
  void aNameThatIsTakenFreesThePort() throws Exception {
    served.scope.named("server").newSink();
    refusedByItsName(); // the first one loads what stays open
    long before = Descriptors.open();

    for (int i = 0; i < 10; i++) refusedByItsName();

    Patience.eventually(() -> Descriptors.open() <= before);
  }

  private void refusedByItsName() {
    assertThrows(IllegalArgumentException.class,
        () -> TcpAcceptor.open(served.scope.named("server"), 0, TcpAcceptorTest::answer, o -> o));
  }

  @Test
  void badInputIsRefusedWithWhatToDo() {
    refused("there is no port 65536; give 1 to 65535, or 0 for any free port",
        () -> TcpAcceptor.open(served.scope.anonymous(), 65_536, TcpAcceptorTest::answer, o -> o));
    refused("there is no port -1; give 1 to 65535, or 0 for any free port",
        () -> TcpAcceptor.open(served.scope.anonymous(), -1, TcpAcceptorTest::answer, o -> o));
    option("max connections of 0 lets nothing through; give 1 or more", o -> o.withMaxConnections(0));
    option("a max frame of 0 lets nothing through; give 1 or more", o -> o.withMaxFrame(0));
    option("a max unsent of -5 lets nothing through; give 1 or more", o -> o.withMaxUnsent(-5));
    option(
        "an idle limit of 0 s leaves no time for anything; give more than zero, or "
            + "ChronoUnit.FOREVER.getDuration() for none",
        o -> o.withIdleLimit(Duration.ZERO));
    option(
        "a total limit of -1 s leaves no time for anything; give more than zero, or "
            + "ChronoUnit.FOREVER.getDuration() for none",
        o -> o.withTotalLimit(Duration.ofSeconds(-1)));
    option(
        "a write limit of 0 s leaves no time for anything; give more than zero, or "
            + "ChronoUnit.FOREVER.getDuration() for none",
        o -> o.withWriteLimit(Duration.ZERO));
    option("a drain limit of -1 s is negative; give zero or more", o -> o.withDrainLimit(Duration.ofSeconds(-1)));
    assertEquals("address",
        assertThrows(NullPointerException.class, () -> served.open(TcpAcceptorTest::answer, o -> o.withAddress(null)))
            .getMessage());
    assertEquals("handler", assertThrows(NullPointerException.class, () -> served.open(null)).getMessage());
    assertEquals("options",
        assertThrows(NullPointerException.class, () -> served.open(TcpAcceptorTest::answer, null)).getMessage());
    assertEquals("builder",
        assertThrows(NullPointerException.class, () -> TcpAcceptor.open(null, 0, TcpAcceptorTest::answer, o -> o))
            .getMessage());
    assertEquals("options returned null; return the options it was given, changed or not",
        assertThrows(NullPointerException.class, () -> served.open(TcpAcceptorTest::answer, o -> null)).getMessage());
  }

  private void option(String text, UnaryOperator<TcpOptions> options) {
    refused(text, () -> served.open(TcpAcceptorTest::answer, options));
  }

  private static void refused(String text, org.junit.jupiter.api.function.Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  // ---- bad handlers

  @Promise("25.1")
  @Test
  void failedHandlerClosesItsConnectionAndFreesItsPermit() {
    var tries = new AtomicInteger();
    var acceptor =
        TcpAcceptor.open(served.scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 0, connection -> {
          switch (tries.incrementAndGet()) {
            case 1 -> throw new IOException("not the connection's");
            case 2 -> throw new AssertionError("an error");
            case 3 -> overflow(0);
            case 4 -> throw new InterruptedException("thrown, not interrupted");
            default -> answer(connection);
          }
        }, o -> o.withMaxConnections(1));

    for (int i = 0; i < 4; i++) {
      try (var peer = new Peer(acceptor.port())) {
        assertEquals("", peer.rest());
      }
    }

    answers(acceptor.port());
    Patience.eventually(() -> served.letters.all.size() == 4);
  }

  private static int overflow(int deep) {
    return overflow(deep + 1) + 1;
  }

  @Test
  void aPolicyThatTriesAgainFailsWithWhatWasThrownFirst() {
    var tries = new AtomicInteger();
    var acceptor = TcpAcceptor
        .open(served.scope.anonymous().onFailure(FailurePolicy.resume().withRetries(3).withoutLog()), 0, connection -> {
          throw new IllegalStateException("try " + tries.incrementAndGet());
        }, o -> o);

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("", peer.rest());
    }

    Patience.eventually(() -> served.letters.all.size() == 1);
    assertEquals("try 1", served.letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Test
  void anExecutorThatIsShutDownLeavesNoConnectionOpen() {
    var executor = Executors.newSingleThreadExecutor();
    executor.shutdown();
    var acceptor = TcpAcceptor.open(served.scope.anonymous().strategy(Strategy.of(executor)), 0,
        TcpAcceptorTest::answer, o -> o.withMaxConnections(1));

    for (int i = 0; i < 3; i++) {
      try (var peer = new Peer(acceptor.port())) {
        peer.closed();
      }
    }

    Patience.eventually(() -> served.letters.all.size() == 3);
    assertTrue(served.letters.all.stream().allMatch(letter -> letter.message() instanceof TcpConnection));
  }

  @Test
  void aConversationThatNeverGetsAThreadEndsWithTheAcceptor() {
    var acceptor =
        TcpAcceptor.open(served.scope.anonymous().strategy(activation -> {}), 0, TcpAcceptorTest::answer, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      Patience.eventually(() -> acceptor.connections().size() == 1);

      acceptor.kill();

      peer.closed();
      Patience.ended(acceptor::waitForExit);
    }
  }

  @Test
  void interceptorSurroundsConversationsButNotMessagesToClients() {
    var around = new CopyOnWriteArrayList<Object>();
    var how = served.scope.anonymous().intercept((message, next) -> {
      around.add(message);
      next.run();
    });
    var acceptor = TcpAcceptor.open(how, 0, connection -> connection.lineActor().sendMessage("hello"), o -> o);

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("hello\n", peer.rest());
    }

    assertEquals(1, around.size());
    assertInstanceOf(TcpConnection.class, around.getFirst());
  }

  @Test
  void aHandlerMayInterruptItsThread() {
    var acceptor = TcpAcceptor.open(served.scope.anonymous().strategy(Strategy.CALLER), 0, connection -> {
      answer(connection);
      Thread.currentThread().interrupt();
    }, o -> o);

    answers(acceptor.port());
    answers(acceptor.port());
  }

  @Test
  void conversationThatWaitsForItsAcceptorClosesCycle() {
    var seen = new CompletableFuture<Throwable>();
    var open = new CompletableFuture<TcpAcceptor>();
    open.complete(served
        .open(connection -> seen.complete(assertThrows(AskCycleException.class, () -> open.join().waitForExit()))));

    try (var peer = new Peer(open.join().port())) {
      assertInstanceOf(AskCycleException.class, Patience.value(seen));
    }
  }

  // ---- bad clients

  @Promise("25.4")
  @Test
  void leavingClientsAreNoFailuresAndDoNotFloodLog() {
    try (var log = new Logged()) {
      var acceptor = TcpAcceptor.open(served.scope.anonymous().onFailure(FailurePolicy.escalate()), 0, connection -> {
        while (connection.inputStream().read() >= 0);
        answer(connection);
      }, o -> o);
      for (int i = 0; i < 200; i++) new Peer(acceptor.port()).send("x").reset();

      Patience.eventually(() -> served.scope.report().handled() == 200);
      try (var peer = new Peer(acceptor.port()).send("x").end()) {
        assertEquals("k", peer.rest());
      }

      assertEquals(List.of(), served.letters.all);
      // the log line may come late, because the conversation counts as handled before
      Patience.eventually(() -> log.text()
          .contains("1 conversations were ended by their clients or by a limit since the last line"));
      assertEquals(1, log.about(acceptor.toString(), "TcpAcceptorTest").lines().count(), log.text());
    }
  }

  @Test
  void clientsMayBeKilledAtAnyMoment() {
    long seed = Long.getLong("fibry.seed", new Random().nextLong());
    var random = new Random(seed);
    var acceptor = served.open(connection -> {
      if (random.nextBoolean()) connection.lineActor().sendMessage("hello");
      for (var line : connection.lines()) {
        connection.outputStream().write(new byte[line.length() * 100]);
        connection.lineActor().sendMessage(line);
      }
    }, o -> o.withMaxConnections(20));
    for (int i = 0; i < 300; i++) {
      var peer = new Peer(acceptor.port());
      if (random.nextBoolean()) peer.send("x".repeat(random.nextInt(2_000)) + (random.nextBoolean() ? "\n" : ""));
      if (random.nextInt(4) == 0) peer.end();
      if (random.nextBoolean()) peer.reset();
      else peer.close();
    }

    Patience.eventually(() -> acceptor.connections().isEmpty());
    try (var peer = new Peer(acceptor.port()).send("last\n").end()) {
      assertTrue(peer.rest().contains("last\n"), "-Dfibry.seed=" + seed);
    }
    assertEquals(List.of(),
        served.letters.all.stream().filter(letter -> letter.message() instanceof TcpConnection).toList());
  }

  @Test
  void acceptorMayBeEndedWhileClientsConnect() {
    for (int round = 0; round < 20; round++) {
      int end = round % 4;
      var acceptor = served.open(TcpAcceptorTest::answer, o -> o.withDrainLimit(Duration.ofMillis(20)));
      var clients = new ArrayList<Thread>();
      for (int c = 0; c < 4; c++)
        clients.add(Patience.startFiber(() -> {
          try {
            while (!acceptor.onExit().isDone()) new Peer(acceptor.port()).send("x").close();
          } catch (UncheckedIOException ended) {}
        }));

      if (end == 0) acceptor.close();
      else if (end == 1) acceptor.askExit();
      else if (end == 2) acceptor.kill();
      else acceptor.sendPoisonPill();

      Patience.ended(acceptor::waitForExit);
      clients.forEach(Patience::joined);
      assertEquals(0, acceptor.connections().size());
    }
  }

  // ---- others

  @Test
  void anIdleServerIsQuiet() {
    var gate = new Gate();
    var acceptor = served.open(connection -> gate.passDeaf());
    assertTrue(served.scope.awaitQuiescence(Patience.LONG));

    try (var peer = new Peer(acceptor.port())) {
      Patience.await(gate.entered);
      assertFalse(served.scope.awaitQuiescence(Duration.ofMillis(5)));
      gate.open();
      assertEquals("", peer.rest());
    }

    assertTrue(served.scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void failureInSilentAcceptorIsCountedAndNotLogged() {
    try (var log = new Logged()) {
      var acceptor = Stereotypes.of(served.scope.anonymous()).tcpAcceptorSilent(0, connection -> {
        throw new IllegalStateException("not to be seen");
      }, null);

      try (var peer = new Peer(acceptor.port())) {
        assertEquals("", peer.rest());
      }

      Patience.eventually(() -> served.letters.all.size() == 1);
      assertEquals("", log.about("not to be seen", "TcpAcceptorTest"));
    }
  }

  @Test
  void acceptorListensOnLoopbackAddressByDefault() {
    var here = served.open(TcpAcceptorTest::answer);
    var everywhere =
        served.open(TcpAcceptorTest::answer, o -> o.withAddress(new java.net.InetSocketAddress(0).getAddress()));

    assertTrue(here.toString().contains("on localhost/127.0.0.1:" + here.port()), here.toString());
    assertTrue(everywhere.toString().contains("0.0.0.0") || everywhere.toString().contains("::"),
        everywhere.toString());
    answers(everywhere.port());
  }
}
