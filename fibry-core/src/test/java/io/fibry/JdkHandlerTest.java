package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.message.Diagnosis;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests the text of a time-out if the handler is a method of the JDK, or waits in the JDK. */
class JdkHandlerTest {

  @Promise("4.17")
  @Test
  void timeoutTextShowsStackOfHandlerThatIsJdkMethod() {
    try (var scope = ActorSystem.openScope("foreign")) {
      ActorWithReturn<CompletableFuture<String>, String> actor =
          scope.anonymous().strategy(Strategy.THREAD).newActorWithReturn(CompletableFuture::join);
      var awaitedFuture = new CompletableFuture<String>();
      actor.sendMessage(awaitedFuture);
      Patience.eventually(() -> awaitedFuture.getNumberOfDependents() == 1);
      Patience.awaitParked(ActorInternals.thread(actor));

      String text = assertThrows(AskTimeoutException.class,
          () -> actor.ask(new CompletableFuture<>(), Duration.ofMillis(1))).getMessage();

      assertTrue(text.contains(". The handler is at java.base/jdk.internal.misc.Unsafe.park("), text);
      assertTrue(text.contains(" < java.base/java.util.concurrent.locks.LockSupport.park("), text);
      awaitedFuture.complete("x");
      actor.kill();
    }
  }

  private static int readByte(Socket socket) throws IOException {
    return socket.getInputStream().read();
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsUserCodeThatReadsSocket() throws IOException {
    try (var scope = ActorSystem.openScope("app");
        var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var client = new Socket(server.getInetAddress(), server.getLocalPort())) {
      var actor = scope.named("orders").onFailure(FailurePolicy.resume().withoutLog())
          .newActorWithReturn(JdkHandlerTest::readByte);
      actor.sendMessage(client);
      Patience.eventually(() -> readsSocket(ActorInternals.thread(actor)));

      String text =
          assertThrows(AskTimeoutException.class, () -> actor.ask(client, Duration.ofMillis(1))).getMessage();

      assertTrue(text.contains(". The handler is at java.base/java.net.Socket$SocketInputStream.read("), text);
      assertTrue(text.contains(") < io.fibry.JdkHandlerTest.readByte(JdkHandlerTest.java:"), text);
      client.shutdownInput(); // ends the read
    }
  }

  private static boolean readsSocket(Thread thread) {
    return thread != null && Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals("java.net.Socket$SocketInputStream"));
  }

  private static StackTraceElement frame(String module, String type, String method) {
    return new StackTraceElement(null, module, null, type, method, "Source.java", 7);
  }

  @Promise("4.17")
  @Test
  void placeBeginsAtCallFromUserCodeIntoJdk() {
    var stack = new Diagnosis.HandlerStack("x",
        new StackTraceElement[] {frame("java.base", "java.util.concurrent.locks.LockSupport", "park"),
          frame("java.base", "sun.nio.ch.Poller", "poll"), frame("java.sql", "javax.sql.Source", "read"),
          frame(null, "com.shop.Orders", "callWarehouse"), frame(null, "com.shop.Orders", "handle")});

    assertEquals(". The handler is at java.sql/javax.sql.Source.read(Source.java:7)"
        + " < com.shop.Orders.callWarehouse(Source.java:7) < com.shop.Orders.handle(Source.java:7)",
        stack.describePlace());
  }

  @Promise("4.17")
  @Test
  void placeIsTopOfStackThatHasOnlyJdkCode() {
    var stack =
        new Diagnosis.HandlerStack("x", new StackTraceElement[] {frame("java.base", "java.lang.Thread", "yield"),
          frame("java.base", "sun.nio.ch.Poller", "poll")});

    assertEquals(". The handler is at java.base/java.lang.Thread.yield(Source.java:7)"
        + " < java.base/sun.nio.ch.Poller.poll(Source.java:7)", stack.describePlace());
  }
}
