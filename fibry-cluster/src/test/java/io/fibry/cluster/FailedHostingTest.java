package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pool.Entities;
import io.fibry.support.Intercepted;
import java.lang.reflect.Method;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a failed call of host(..) leaves nothing behind, whichever of its steps fails. */
class FailedHostingTest {
  record Ping() implements Request<Ping, String> {}

  private final ClusterNetwork memory = TestNetwork.inMemory();
  private final TestNetwork network = new TestNetwork((app, node) -> Intercepted.of(ClusterTransport.class,
      memory.connect(app, node), this::handle));
  private final ActorScope scope = ActorSystem.openScope("failed-hosting-test");
  private final Cluster node = Cluster.join("shop", network,
      options -> options.withScope(scope).withPartitions(2).withSettleTime(Duration.ofMillis(1)));
  private volatile Thread hostingThread; // its calls of the transport are counted; null if no call is to fail
  private int callsUntilFailure; // used by the hosting thread only

  @AfterEach
  void close() {
    node.close();
    scope.close();
  }

  private Object handle(Method method, Object[] arguments, Intercepted.Call call) throws Throwable {
    if (Thread.currentThread() == hostingThread && --callsUntilFailure == 0)
      throw new TransportException(TransportException.Failure.DISCONNECTED, "made up, for a test");
    return call.pass();
  }

  private Entities<String, Ping> host() {
    return node.host("till", Ping.class, scope.anonymous(), Duration.ofMinutes(1), (builder, key) -> builder
        .newActor((Ping ping, ActorContext<Ping> context) -> context.reply(ping, key)));
  }

  /** Returns whether the call of host(..) failed. */
  private boolean failsAtCall(int number) {
    callsUntilFailure = number;
    hostingThread = Thread.currentThread();
    try {
      host().close();
      return false;
    } catch (TransportException failure) {
      return true;
    } finally {
      hostingThread = null;
    }
  }

  @Test
  void kindCanBeHostedAgainAfterAnyTransportCallFails() {
    int number = 1;
    for (; failsAtCall(number); number++) {
      try (var tills = host()) {
        assertEquals("one", tills.actor("one").ask(new Ping()), "after a failure of call " + number);
      }
    }
    assertTrue(number > 2, "failed calls: " + (number - 1));
  }
}
