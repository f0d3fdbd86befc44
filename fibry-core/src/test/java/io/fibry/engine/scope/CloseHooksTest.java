package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.net.TcpAcceptor;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the hooks that a scope runs when it begins to close. */
class CloseHooksTest {
  private final ActorScope scope = ActorSystem.openScope("shop", o -> o.withKillGrace(Duration.ZERO));
  private final AtomicInteger hookRuns = new AtomicInteger();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  @SuppressWarnings("try")
  @Promise("16.18")
  @Test
  void closeHookLetsConversationEndBeforeCutOff() throws Exception {
    var server = TcpAcceptor.open(scope.openScope("chat").anonymous(), 0, connection -> {
      var closing = new CountDownLatch(1);
      try (var hook = scope.onClosing(closing::countDown)) {
        connection.outputStream().write('>');
        closing.await();
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
  void closeRunsEachHookOnceBeforeActorsEnd() {
    var inner = scope.openScope("inner");
    inner.onClosing(hookRuns::incrementAndGet);
    scope.onClosing(hookRuns::incrementAndGet);
    var gate = Gate.occupy(inner.anonymous().newActor((Object message) -> ((Gate) message).pass()));

    var closer = Patience.startFiber(scope::close);
    Patience.eventually(() -> hookRuns.get() == 2);
    gate.open();
    Patience.awaitEnd(closer);
    inner.close();

    assertEquals(2, hookRuns.get());
  }

  @Promise("16.18")
  @Test
  void closeHookAddedToClosedScopeRuns() {
    scope.close();

    scope.onClosing(hookRuns::incrementAndGet);

    Patience.eventually(() -> hookRuns.get() == 1);
  }

  @Promise("16.18")
  @Test
  void removedCloseHookDoesNotRun() {
    var lastHookRun = new CountDownLatch(1);
    scope.onClosing(hookRuns::incrementAndGet).close();
    scope.onClosing(lastHookRun::countDown);

    scope.close();

    Patience.await(lastHookRun);
    assertEquals(0, hookRuns.get());
  }

  @Promise("16.18")
  @Test
  void hangingOrFailingHookDelaysNeitherCloseNorOtherHooks() {
    var gate = new Gate();
    var lastHookRun = new CountDownLatch(1);
    scope.named("doorkeeper").newActor(message -> {});
    scope.onClosing(gate::passUninterruptibly);
    scope.onClosing(() -> {
      throw new IllegalStateException("planned");
    });
    scope.onClosing(lastHookRun::countDown);

    try (var logged = new Logged()) {
      assertTrue(scope.closeWithin(Patience.LONG).unresponsive().isEmpty());

      Patience.await(lastHookRun);
      Patience.eventually(() -> logged.text().contains("a close hook of scope 'shop' failed"));
      assertFalse(logged.entriesAbout("'doorkeeper'").contains("did not end"), logged.text());
    }
  }

  @Test
  void nullCloseHookIsRefused() {
    assertEquals("hook", assertThrows(NullPointerException.class, () -> scope.onClosing(null)).getMessage());
  }

  @Test
  void closedScopeRefusesNewActors() {
    scope.close();

    assertTrue(scope.isClosed());
    assertFalse(ActorSystem.openScope("open").isClosed());
    var refusal = assertThrows(IllegalStateException.class, () -> scope.anonymous().newActor(message -> {}));
    assertEquals("scope 'shop' is closed, so it takes no new actors or scopes; use an open scope",
        refusal.getMessage());
  }
}
