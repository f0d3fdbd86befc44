package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Four connections, three queries a request, and a load that rises past what they can do and falls
 * again. Who lets everybody in is late for all, and works on for clients who have gone. Who refuses
 * in time keeps serving.
 */
class SqlRamp {
  private static final int CONNECTIONS = 4;
  private static final Duration PATIENCE = Duration.ofMillis(250); // a client's
  // requests in half a second each; about 130 can be served
  private static final int[] LOAD = {60, 120, 600, 60};

  private interface Server {
    void request() throws Exception;
  }

  public static void main(String[] args) throws Exception {
    var workers = Pools.fixed(ActorSystem.anonymous().mailbox(Mailbox.bounded(16, Overflow.REJECT)), CONNECTIONS)
        .newActorWithReturn((Integer queries) -> {
          for (int i = 0; i < queries; i++) Thread.sleep(5); // a query
          return queries;
        });
    ramp("refuses", () -> workers.ask(3, PATIENCE));

    var connections = new Semaphore(CONNECTIONS, true);
    ramp("lets all in", () -> {
      for (int i = 0; i < 3; i++) {
        connections.acquire();
        Thread.sleep(5);
        connections.release();
      }
    });
  }

  private static void ramp(String what, Server server) throws InterruptedException {
    var inTime = new AtomicIntegerArray(LOAD.length);
    long next = System.nanoTime();
    for (int i = 0; i < LOAD.length; i++) {
      int step = i;
      for (int client = 0; client < LOAD[step]; client++, next += 500_000_000 / LOAD[step]) {
        Thread.sleep(Duration.ofNanos(next - System.nanoTime()));
        Thread.startVirtualThread(() -> {
          long came = System.nanoTime();
          try {
            server.request();
            if (System.nanoTime() - came <= PATIENCE.toNanos()) inTime.incrementAndGet(step);
          } catch (Exception refused) {} // at once, or too late
        });
      }
    }
    Thread.sleep(PATIENCE); // for the last answers
    String became = inTime.get(3) > 45 ? "OK" : inTime.get(3) < 15 ? "COLLAPSED" : "SLOW";
    System.out.println(what + ": in time " + inTime.get(0) + " of 60, " + inTime.get(1) + " of 120, " + inTime.get(2)
        + " of 600, " + inTime.get(3) + " of 60: " + became);
  }
}
