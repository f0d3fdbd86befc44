package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests that a TCP acceptor and its connections leave neither descriptors nor heap. */
class TcpLeakTest {
  private static void echo(TcpConnection connection) {
    for (var line : connection.lines()) connection.lineActor().sendMessage(line);
  }

  /**
   * Serves twenty clients, and ends the acceptor. Before the end, some clients close, some reset,
   * and some stay connected.
   */
  private static WeakReference<?> serve(Consumer<Exitable> end) {
    var acceptor =
        TcpAcceptor.open(ActorSystem.anonymous(), 0, TcpLeakTest::echo, o -> o.withDrainLimit(Duration.ofMillis(20)));
    var clients = new ArrayList<Peer>();
    for (int i = 0; i < 20; i++) clients.add(new Peer(acceptor.port()).send("hello\n"));
    for (var client : clients) assertEquals("hello", client.readLine());
    for (int i = 0; i < 10; i++)
      if (i < 5) clients.get(i).reset();
      else clients.get(i).close();
    end.accept(acceptor);
    Patience.awaitEnd(acceptor::waitForExit);
    clients.forEach(Peer::close);
    return new WeakReference<>(acceptor);
  }

  @Promise("25.6")
  @Test
  void endedAcceptorLeavesNeitherDescriptorsNorHeap() {
    serve(Exitable::kill); // the JDK opens some descriptors that stay open
    long descriptorsBefore = Descriptors.countOpen();

    var acceptors = new ArrayList<WeakReference<?>>();
    for (Consumer<Exitable> end : List.<Consumer<Exitable>>of(Exitable::close, Exitable::askExit, Exitable::kill))
      acceptors.add(serve(end));

    Patience.eventually(() -> Descriptors.countOpen() <= descriptorsBefore);
    assertTrue(LeakProbe.collected(acceptors));
  }

  @Test
  void closedConnectionLeavesNoHeapAtOpenAcceptor() {
    var connections = new ConcurrentLinkedQueue<WeakReference<TcpConnection>>();
    var acceptor = TcpAcceptor.open(ActorSystem.anonymous(), 0, connection -> {
      connections.add(new WeakReference<>(connection));
      echo(connection);
    }, o -> o);
    for (int i = 0; i < 20; i++) {
      try (var peer = new Peer(acceptor.port()).send("hello\n").endOutput()) {
        assertEquals("hello\n", peer.readToEnd());
      }
    }

    assertTrue(LeakProbe.collected(List.copyOf(connections)));
    assertEquals(20, connections.size());
    acceptor.close();
  }

  @Test
  void failedOpenLeavesNoDescriptors() throws IOException {
    Descriptors.countOpen(); // skips the test if descriptors cannot be counted
    var acceptor = TcpAcceptor.open(ActorSystem.anonymous(), 0, TcpLeakTest::echo, o -> o);
    long descriptorsBefore = Descriptors.countOpen();

    for (int i = 0; i < 50; i++) {
      try {
        TcpAcceptor.open(ActorSystem.anonymous(), acceptor.port(), TcpLeakTest::echo, o -> o).kill();
      } catch (java.io.UncheckedIOException portInUse) {}
    }

    Patience.eventually(() -> Descriptors.countOpen() <= descriptorsBefore);
    acceptor.close();
  }
}
