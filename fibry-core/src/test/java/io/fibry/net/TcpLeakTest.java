package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.LeakProbe;
import io.fibry.Promise;
import io.fibry.io.Descriptors;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A TCP acceptor leaves nothing behind. */
class TcpLeakTest {
  private static void chat(TcpConnection connection) {
    for (var line : connection.lines()) connection.lineActor().sendMessage(line);
  }

  /** Twenty clients: some close, some reset, some stay. */
  private static WeakReference<?> serve(Consumer<Exitable> end) {
    var acceptor =
        TcpAcceptor.open(ActorSystem.anonymous(), 0, TcpLeakTest::chat, o -> o.withDrainLimit(Duration.ofMillis(20)));
    var clients = new ArrayList<Peer>();
    for (int i = 0; i < 20; i++) clients.add(new Peer(acceptor.port()).send("hello\n"));
    for (var client : clients) assertEquals("hello", client.line());
    for (int i = 0; i < 10; i++)
      if (i < 5) clients.get(i).reset();
      else clients.get(i).close();
    end.accept(acceptor);
    Patience.ended(acceptor::waitForExit);
    clients.forEach(Peer::close);
    return new WeakReference<>(acceptor);
  }

  @Promise("25.6")
  @Test
  void endedAcceptorLeavesNeitherDescriptorsNorHeap() {
    serve(Exitable::kill); // the JDK opens some once
    long before = Descriptors.open();

    var ended = new ArrayList<WeakReference<?>>();
    for (Consumer<Exitable> end : List.<Consumer<Exitable>>of(Exitable::close, Exitable::askExit, Exitable::kill))
      ended.add(serve(end));

    Patience.eventually(() -> Descriptors.open() <= before);
    assertTrue(LeakProbe.collected(ended));
  }

  @Test
  void aConnectionThatIsOverLeavesNothingAtALivingAcceptor() {
    var gone = new ConcurrentLinkedQueue<WeakReference<TcpConnection>>();
    var acceptor = TcpAcceptor.open(ActorSystem.anonymous(), 0, connection -> {
      gone.add(new WeakReference<>(connection));
      chat(connection);
    }, o -> o);
    for (int i = 0; i < 20; i++) {
      try (var peer = new Peer(acceptor.port()).send("hello\n").end()) {
        assertEquals("hello\n", peer.rest());
      }
    }

    assertTrue(LeakProbe.collected(List.copyOf(gone)));
    assertEquals(20, gone.size());
    acceptor.close();
  }

  @Test
  void aPortThatCannotBeHadLeavesNothing() throws IOException {
    Descriptors.open(); // or the test is skipped
    var acceptor = TcpAcceptor.open(ActorSystem.anonymous(), 0, TcpLeakTest::chat, o -> o);
    long before = Descriptors.open();

    for (int i = 0; i < 50; i++) {
      try {
        TcpAcceptor.open(ActorSystem.anonymous(), acceptor.port(), TcpLeakTest::chat, o -> o).kill();
      } catch (java.io.UncheckedIOException taken) {}
    }

    Patience.eventually(() -> Descriptors.open() <= before);
    acceptor.close();
  }
}
