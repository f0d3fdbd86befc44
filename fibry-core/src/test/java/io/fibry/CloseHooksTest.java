package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.TcpAcceptor;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a scope does when it begins to close. */
class CloseHooksTest {
  private final ActorScope scope = ActorSystem.openScope("shop", o -> o.withKillGrace(Duration.ZERO));
  private final AtomicInteger said = new AtomicInteger();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  @SuppressWarnings("try")
  @Promise("16.18")
  @Test
  void closeHookEndsLongConversationInTime() throws Exception {
    var server = TcpAcceptor.open(scope.openScope("chat").anonymous(), 0, connection -> {
      var over = new CountDownLatch(1);
      try (var farewell = scope.onClosing(over::countDown)) {
        connection.outputStream().write('>');
        over.await();
        connection.outputStream().write("bye".getBytes(StandardCharsets.UTF_8));
      }
    }, o -> o.withDrainLimit(Patience.LONG));

    try (var client = new Socket("localhost", server.port())) {
      assertEquals('>', client.getInputStream().read());
      var report = scope.closeWithin(Patience.LONG);

      assertEquals("bye", new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      assertEquals(0, report.unhandled().get(DeadLetter.Reason.FAILED));
    }
  }

  @Promise("16.18")
  @Test
  void closeHooksRunOnceAndAtTheSameTimeInChildScopes() {
    var inner = scope.openScope("inner");
    inner.onClosing(said::incrementAndGet);
    scope.onClosing(said::incrementAndGet);
    var gate = Gate.occupy(inner.anonymous().newActor((Object message) -> ((Gate) message).pass()));

    var closing = Patience.startFiber(scope::close);
    Patience.eventually(() -> said.get() == 2);
    gate.open();
    Patience.joined(closing);
    inner.close();

    assertEquals(2, said.get());
  }

  @Promise("16.18")
  @Test
  void closeHookOfClosedScopeRunsAtOnce() {
    scope.close();

    scope.onClosing(said::incrementAndGet);

    Patience.eventually(() -> said.get() == 1);
  }

  @Promise("16.18")
  @Test
  void removedCloseHookDoesNotRun() {
    var heard = new CountDownLatch(1);
    scope.onClosing(said::incrementAndGet).close();
    scope.onClosing(heard::countDown);

    scope.close();

    Patience.await(heard);
    assertEquals(0, said.get());
  }

  @Promise("16.18")
  @Test
  void hangingOrFailingCloseHookBlocksNothing() {
    var gate = new Gate();
    var heard = new CountDownLatch(1);
    scope.named("doorkeeper").newActor(message -> {});
    scope.onClosing(gate::passDeaf);
    scope.onClosing(() -> {
      throw new IllegalStateException("planned");
    });
    scope.onClosing(heard::countDown);

    try (var logged = new Logged()) {
      assertTrue(scope.closeWithin(Patience.LONG).unresponsive().isEmpty());

      Patience.await(heard);
      Patience.eventually(() -> logged.text().contains("a farewell of scope 'shop' failed"));
      assertFalse(logged.about("'doorkeeper'").contains("did not obey"), logged.text());
    }
  }

  @Test
  void badInputIsRefused() {
    assertEquals("farewell", assertThrows(NullPointerException.class, () -> scope.onClosing(null)).getMessage());
  }

  @Test
  void closedScopeRefusesNewActors() {
    scope.close();

    assertTrue(scope.isClosed());
    assertFalse(ActorSystem.openScope("open").isClosed());
    var closed = assertThrows(IllegalStateException.class, () -> scope.anonymous().newActor(message -> {}));
    assertEquals("scope 'shop' is closed, so it takes nothing new; make it in a scope that is open",
        closed.getMessage());
  }
}
