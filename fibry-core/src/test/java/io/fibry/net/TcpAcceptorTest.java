package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskCycleException;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a TCP acceptor with bad handlers, bad clients and invalid arguments. */
@SuppressWarnings("try") // some clients are opened but not used
class TcpAcceptorTest {
  private final ServerScope net = new ServerScope();

  @AfterEach
  void close() {
    net.close();
  }

  private static void assertAnswers(int port) {
    try (var peer = new Peer(port).send("x")) {
      assertEquals("k", peer.readToEnd());
    }
  }

  private static void answer(TcpConnection connection) throws IOException {
    connection.inputStream().read();
    connection.outputStream().write('k');
  }

  // ---- invalid arguments

  @Test
  void portInUseIsRefusedAtOnceAndNameStaysFree() throws Exception {
    try (var usedSocket = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
      var builder = net.scope.named("server");

      var failure = assertThrows(UncheckedIOException.class,
          () -> TcpAcceptor.open(builder, usedSocket.getLocalPort(), TcpAcceptorTest::answer, o -> o));

      assertInstanceOf(BindException.class, failure.getCause());
      assertTrue(failure.getMessage().matches("cannot listen on localhost/127.0.0.1:" + usedSocket.getLocalPort()
          + ": Address already in use.*; end the program that listens there, or give another port or address "
          + "\\(port 0: any free port\\)"),
          failure.getMessage());
      assertAnswers(TcpAcceptor.open(builder, 0, TcpAcceptorTest::answer, o -> o).port());
    }
  }

  @Test
  void acceptorWithUsedNameIsRefusedAndFreesItsPort() throws Exception {
    net.scope.named("server").newSink();
    assertNameRefused(); // the first attempt opens descriptors that stay open
    long descriptorsBefore = Descriptors.countOpen();

    for (int i = 0; i < 10; i++) assertNameRefused();

    Patience.eventually(() -> Descriptors.countOpen() <= descriptorsBefore);
  }

  private void assertNameRefused() {
    assertThrows(IllegalArgumentException.class,
        () -> TcpAcceptor.open(net.scope.named("server"), 0, TcpAcceptorTest::answer, o -> o));
  }

  @Test
  void invalidArgumentsAreRefusedWithRemedies() {
    assertRefused("there is no port 65536; give 1 to 65535, or 0 for any free port",
        () -> TcpAcceptor.open(net.scope.anonymous(), 65_536, TcpAcceptorTest::answer, o -> o));
    assertRefused("there is no port -1; give 1 to 65535, or 0 for any free port",
        () -> TcpAcceptor.open(net.scope.anonymous(), -1, TcpAcceptorTest::answer, o -> o));
    assertOptionRefused("max connections of 0 lets nothing through; give 1 or more", o -> o.withMaxConnections(0));
    assertOptionRefused("a max frame of 0 lets nothing through; give 1 or more", o -> o.withMaxFrame(0));
    assertOptionRefused("a max unsent of -5 lets nothing through; give 1 or more", o -> o.withMaxUnsent(-5));
    assertOptionRefused(
        "an idle limit of 0 s leaves no time for anything; give more than zero, or "
            + "ChronoUnit.FOREVER.getDuration() for no limit",
        o -> o.withIdleLimit(Duration.ZERO));
    assertOptionRefused(
        "a total limit of -1 s leaves no time for anything; give more than zero, or "
            + "ChronoUnit.FOREVER.getDuration() for no limit",
        o -> o.withTotalLimit(Duration.ofSeconds(-1)));
    assertOptionRefused(
        "a write limit of 0 s leaves no time for anything; give more than zero, or "
            + "ChronoUnit.FOREVER.getDuration() for no limit",
        o -> o.withWriteLimit(Duration.ZERO));
    assertOptionRefused("a drain limit of -1 s is negative; give zero or more",
        o -> o.withDrainLimit(Duration.ofSeconds(-1)));
    assertEquals("address",
        assertThrows(NullPointerException.class, () -> net.open(TcpAcceptorTest::answer, o -> o.withAddress(null)))
            .getMessage());
    assertEquals("handler", assertThrows(NullPointerException.class, () -> net.open(null)).getMessage());
    assertEquals("options",
        assertThrows(NullPointerException.class, () -> net.open(TcpAcceptorTest::answer, null)).getMessage());
    assertEquals("builder",
        assertThrows(NullPointerException.class, () -> TcpAcceptor.open(null, 0, TcpAcceptorTest::answer, o -> o))
            .getMessage());
    assertEquals("the function `options` returned null; it must return the options that it gets, changed or not",
        assertThrows(NullPointerException.class, () -> net.open(TcpAcceptorTest::answer, o -> null)).getMessage());
  }

  private void assertOptionRefused(String text, UnaryOperator<TcpOptions> options) {
    assertRefused(text, () -> net.open(TcpAcceptorTest::answer, options));
  }

  private static void assertRefused(String text, org.junit.jupiter.api.function.Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  // ---- bad handlers

  @Promise("25.1")
  @Test
  void failedHandlerClosesItsConnectionAndFreesItsPermit() {
    var tries = new AtomicInteger();
    var acceptor =
        TcpAcceptor.open(net.scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 0, connection -> {
          switch (tries.incrementAndGet()) {
            case 1 -> throw new IOException("planned failure of the handler, not of its connection");
            case 2 -> throw new AssertionError("an error");
            case 3 -> overflow(0);
            case 4 -> throw new InterruptedException("thrown, not interrupted");
            default -> answer(connection);
          }
        }, o -> o.withMaxConnections(1));

    for (int i = 0; i < 4; i++) {
      try (var peer = new Peer(acceptor.port())) {
        assertEquals("", peer.readToEnd());
      }
    }

    assertAnswers(acceptor.port());
    Patience.eventually(() -> net.letters.all.size() == 4);
  }

  private static int overflow(int depth) {
    return overflow(depth + 1) + 1;
  }

  @Test
  void failedConversationIsNotRetriedDespiteRetryPolicy() {
    var tries = new AtomicInteger();
    var acceptor = TcpAcceptor
        .open(net.scope.anonymous().onFailure(FailurePolicy.resume().withRetries(3).withoutLog()), 0, connection -> {
          throw new IllegalStateException("try " + tries.incrementAndGet());
        }, o -> o);

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("", peer.readToEnd());
    }

    Patience.eventually(() -> net.letters.all.size() == 1);
    assertEquals(1, tries.get()); // a conversation is not retried
    assertEquals("try 1", net.letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Test
  void acceptorClosesConnectionsIfItsExecutorIsShutDown() {
    var executor = Executors.newSingleThreadExecutor();
    executor.shutdown();
    var acceptor = TcpAcceptor.open(net.scope.anonymous().strategy(Strategy.of(executor)), 0,
        TcpAcceptorTest::answer, o -> o.withMaxConnections(1));

    for (int i = 0; i < 3; i++) {
      try (var peer = new Peer(acceptor.port())) {
        peer.awaitClose();
      }
    }

    Patience.eventually(() -> net.letters.all.size() == 3);
    assertTrue(net.letters.all.stream().allMatch(letter -> letter.message() instanceof TcpConnection));
  }

  @Test
  void connectionWhoseHandlerGetsNoThreadEndsWithAcceptor() {
    var acceptor =
        TcpAcceptor.open(net.scope.anonymous().strategy(activation -> {}), 0, TcpAcceptorTest::answer, o -> o);
    try (var peer = new Peer(acceptor.port())) {
      Patience.eventually(() -> acceptor.connections().size() == 1);

      acceptor.kill();

      peer.awaitClose();
      Patience.awaitEnd(acceptor::waitForExit);
    }
  }

  @Test
  void interceptorSeesConnectionsButNoMessagesToClients() {
    var interceptedMessages = new CopyOnWriteArrayList<Object>();
    var builder = net.scope.anonymous().intercept((message, next) -> {
      interceptedMessages.add(message);
      next.run();
    });
    var acceptor = TcpAcceptor.open(builder, 0, connection -> connection.lineActor().sendMessage("hello"), o -> o);

    try (var peer = new Peer(acceptor.port())) {
      assertEquals("hello\n", peer.readToEnd());
    }

    assertEquals(1, interceptedMessages.size());
    assertInstanceOf(TcpConnection.class, interceptedMessages.getFirst());
  }

  @Test
  void acceptorServesNextClientAfterHandlerInterruptsThread() {
    var acceptor = TcpAcceptor.open(net.scope.anonymous().strategy(Strategy.CALLER), 0, connection -> {
      answer(connection);
      Thread.currentThread().interrupt();
    }, o -> o);

    assertAnswers(acceptor.port());
    assertAnswers(acceptor.port());
  }

  @Test
  void handlerThatWaitsForItsAcceptorGetsAskCycleException() {
    var failure = new CompletableFuture<Throwable>();
    var acceptor = new CompletableFuture<TcpAcceptor>();
    acceptor.complete(net
        .open(connection -> failure
            .complete(assertThrows(AskCycleException.class, () -> acceptor.join().waitForExit()))));

    try (var peer = new Peer(acceptor.join().port())) {
      assertInstanceOf(AskCycleException.class, Patience.value(failure));
    }
  }

  // ---- bad clients

  @Promise("25.4")
  @Test
  void disconnectsAreNoFailuresAndDoNotFloodLog() {
    try (var log = new Logged(); var frozenNet = new ServerScope(o -> o.withScheduler(new ManualScheduler()))) {
      var acceptor =
          TcpAcceptor.open(frozenNet.scope.anonymous().onFailure(FailurePolicy.escalate()), 0, connection -> {
            while (connection.inputStream().read() >= 0);
            answer(connection);
          }, o -> o);
      for (int i = 0; i < 200; i++) new Peer(acceptor.port()).send("x").reset();

      Patience.eventually(() -> frozenNet.scope.report().handled() == 200);
      try (var peer = new Peer(acceptor.port()).send("x").endOutput()) {
        assertEquals("k", peer.readToEnd());
      }

      assertEquals(List.of(), frozenNet.letters.all);
      // waits for the log line, which comes after the conversation is counted as handled
      Patience.eventually(() -> log.text()
          .contains("1 conversation ended by a client or by a limit since the last such line"));
      assertEquals(1, log.entriesAbout(acceptor.toString(), "TcpAcceptorTest").lines().count(), log.text());
    }
  }

  @Test
  void clientsMayDisconnectAtAnyMoment() {
    long seed = StressRuns.seed();
    System.out.println("disconnecting clients: -Dfibry.seed=" + seed);
    var random = new Random(seed); // used by this thread only, because the seed must repeat all choices
    var greetings = new ConcurrentHashMap<Integer, CompletableFuture<Boolean>>(); // by the port of the client
    var acceptor = net.open(connection -> {
      if (Patience.value(greeting(greetings, connection.remoteAddress().getPort())))
        connection.lineActor().sendMessage("hello");
      for (var line : connection.lines()) {
        connection.outputStream().write(new byte[line.length() * 100]);
        connection.lineActor().sendMessage(line);
      }
    }, o -> o.withMaxConnections(20));
    for (int i = 0; i < 300; i++) {
      var peer = new Peer(acceptor.port());
      greeting(greetings, peer.socket.getLocalPort()).complete(random.nextBoolean());
      if (random.nextBoolean()) peer.send("x".repeat(random.nextInt(2_000)) + (random.nextBoolean() ? "\n" : ""));
      if (random.nextInt(4) == 0) peer.endOutput();
      if (random.nextBoolean()) peer.reset();
      else peer.close();
    }

    try (var peer = new Peer(acceptor.port()).send("last\n").endOutput()) {
      greeting(greetings, peer.socket.getLocalPort()).complete(true);
      assertTrue(peer.readToEnd().contains("last\n"), "-Dfibry.seed=" + seed);
    }
    Patience.eventually(() -> acceptor.connections().isEmpty());
    assertEquals(List.of(),
        net.letters.all.stream().filter(letter -> letter.message() instanceof TcpConnection).toList(),
        "-Dfibry.seed=" + seed);
  }

  /** Returns the future in which the client of this port says whether the handler greets it. */
  private static CompletableFuture<Boolean> greeting(Map<Integer, CompletableFuture<Boolean>> greetings, int port) {
    return greetings.computeIfAbsent(port, key -> new CompletableFuture<>());
  }

  @Test
  void acceptorMayBeEndedWhileClientsConnect() {
    for (int round = 0; round < 20; round++) {
      int endKind = round % 4;
      var acceptor = net.open(TcpAcceptorTest::answer, o -> o.withDrainLimit(Duration.ofMillis(20)));
      var clients = new ArrayList<Thread>();
      for (int c = 0; c < 4; c++)
        clients.add(Patience.startFiber(() -> {
          try {
            while (!acceptor.onExit().isDone()) new Peer(acceptor.port()).send("x").close();
          } catch (UncheckedIOException acceptorEnded) {}
        }));

      if (endKind == 0) acceptor.close();
      else if (endKind == 1) acceptor.askExit();
      else if (endKind == 2) acceptor.kill();
      else acceptor.sendPoisonPill();

      Patience.awaitEnd(acceptor::waitForExit);
      clients.forEach(Patience::awaitEnd);
      // the acceptor waits for its accepting thread for one second only
      Patience.eventually(() -> acceptor.connections().isEmpty());
    }
  }

  // ---- other tests

  @Test
  void idleServerIsQuiescent() {
    var gate = new Gate();
    var acceptor = net.open(connection -> gate.passUninterruptibly());
    assertTrue(net.scope.awaitQuiescence(Patience.LONG));

    try (var peer = new Peer(acceptor.port())) {
      Patience.await(gate.entered);
      assertFalse(net.scope.awaitQuiescence(Duration.ofMillis(5)));
      gate.open();
      assertEquals("", peer.readToEnd());
    }

    assertTrue(net.scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void handlerFailureInSilentAcceptorIsDeadLetterAndNotLogged() {
    try (var log = new Logged()) {
      var acceptor = Stereotypes.of(net.scope.anonymous()).tcpAcceptorSilent(0, connection -> {
        throw new IllegalStateException("not to be seen");
      }, null);

      try (var peer = new Peer(acceptor.port())) {
        assertEquals("", peer.readToEnd());
      }

      Patience.eventually(() -> net.letters.all.size() == 1);
      assertEquals("", log.entriesAbout("not to be seen", "TcpAcceptorTest"));
    }
  }

  @Test
  void acceptorListensOnLoopbackAddressByDefault() {
    var localAcceptor = net.open(TcpAcceptorTest::answer);
    var publicAcceptor =
        net.open(TcpAcceptorTest::answer, o -> o.withAddress(new java.net.InetSocketAddress(0).getAddress()));

    assertTrue(localAcceptor.toString().contains("on localhost/127.0.0.1:" + localAcceptor.port()),
        localAcceptor.toString());
    assertTrue(publicAcceptor.toString().contains("0.0.0.0") || publicAcceptor.toString().contains("::"),
        publicAcceptor.toString());
    assertAnswers(publicAcceptor.port());
  }
}
